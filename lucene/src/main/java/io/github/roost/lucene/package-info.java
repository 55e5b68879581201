/**
 * Roost for Lucene: {@link io.github.roost.lucene.RoostVectorsFormat}, a vector format; {@link
 * io.github.roost.lucene.RoostReader}, which searches the graphs of Lucene's own formats; {@link
 * io.github.roost.lucene.SegmentHomes}, which runs searches of each segment on its home domain; {@link
 * io.github.roost.lucene.RoostKnnQuery}, a query answered by a Roost table.
 */
@NullMarked
package io.github.roost.lucene;

import org.jspecify.annotations.NullMarked;
