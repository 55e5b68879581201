/** Lucene searches on Roost's workers, and Roost's tables as queries in Lucene searches. */
@NullMarked
package io.github.roost.bench.lucene;

import org.jspecify.annotations.NullMarked;
