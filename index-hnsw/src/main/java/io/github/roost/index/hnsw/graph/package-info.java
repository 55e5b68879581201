/**
 * Graphs: their build, their image in memory or in another system's file, and their searches. Used by the tables of this module, by the
 * partitions of remote tables, and by the segments of Lucene.
 */
@NullMarked
package io.github.roost.index.hnsw.graph;

import org.jspecify.annotations.NullMarked;
