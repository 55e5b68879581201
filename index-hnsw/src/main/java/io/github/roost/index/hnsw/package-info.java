/**
 * HNSW tables whose searches run on Roost's workers: {@link io.github.roost.index.hnsw.HnswTable} for a fixed set of rows, and
 * {@link io.github.roost.index.hnsw.LiveTable} for rows that are added and removed. Graphs are stored outside the Java heap
 * and searched in C, or in Java if no native library can be loaded.
 */
@NullMarked
package io.github.roost.index.hnsw;

import org.jspecify.annotations.NullMarked;
