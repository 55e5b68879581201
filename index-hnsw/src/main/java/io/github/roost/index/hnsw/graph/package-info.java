/**
 * For authors of indexes: graphs that are kept in somebody else's files, beside vectors that are kept there too. A graph is
 * written with codes of the vectors, opened where the file is mapped, and searched by Roost's walk, which gives the numbers of
 * the vectors to compare exactly.
 */
@NullMarked
package io.github.roost.index.hnsw.graph;

import org.jspecify.annotations.NullMarked;
