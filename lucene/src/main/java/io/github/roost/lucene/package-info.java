/**
 * Roost inside Lucene: {@link io.github.roost.lucene.RoostVectorsFormat}, a vector format; {@link
 * io.github.roost.lucene.SegmentHomes}, which has each segment searched on its home domain; {@link
 * io.github.roost.lucene.RoostKnnQuery}, a query that a table of Roost answers.
 */
@NullMarked
package io.github.roost.lucene;

import org.jspecify.annotations.NullMarked;
