/** Lucene searching on Roost's workers, and Roost's tables answering inside a Lucene search. */
@NullMarked
package io.github.roost.examples.lucene;

import org.jspecify.annotations.NullMarked;
