/** The off-heap memory of open segments. Public for Roost's OpenSearch plugin, and not exported. */
@NullMarked
package io.github.roost.lucene.memory;

import org.jspecify.annotations.NullMarked;
