/** A graph in off-heap memory (the image), its file, its searches in C and in Java, and insertion in C. */
@NullMarked
package io.github.roost.index.hnsw.search;

import org.jspecify.annotations.NullMarked;
