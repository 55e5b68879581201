/**
 * HNSW tables whose searches run on Roost's workers: {@link io.github.roost.index.hnsw.HnswTable} for rows that stay,
 * {@link io.github.roost.index.hnsw.LiveTable} for rows that come and go,
 * {@link io.github.roost.index.hnsw.MultiTableSearch} to ask several at once. All of them lie outside the Java heap and
 * are walked in C, or in Java where no native library can be loaded.
 */
@NullMarked
package io.github.roost.index.hnsw;

import org.jspecify.annotations.NullMarked;
