/** A table's graph in off-heap memory, and the searches over it. */
@NullMarked
package io.github.roost.index.hnsw.walk;

import org.jspecify.annotations.NullMarked;
