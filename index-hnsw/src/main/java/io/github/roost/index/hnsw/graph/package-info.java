/**
 * Graphs stored in another system's files, next to its vectors. A graph is written with SQ8 codes of the
 * vectors, opened in place in the mapped file, and searched by Roost's graph search, which returns the ordinals of the vectors to
 * rerank.
 */
@NullMarked
package io.github.roost.index.hnsw.graph;

import org.jspecify.annotations.NullMarked;
