package io.github.roost.lucene;

import io.github.roost.core.Vectors;
import java.io.IOException;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99FlatVectorsFormat;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;

/**
 * A vector format for Lucene. The vectors are kept as {@link Lucene99FlatVectorsFormat} keeps them; beside them lies an HNSW
 * graph (Malkov and Yashunin, 2016) with a byte per component of each vector, which Roost searches in C where the segment is
 * mapped. The best candidates are compared again by the vectors themselves, so that scores are Lucene's own.
 *
 * <p>It takes vectors of floats and of bytes under every similarity function, and all that Lucene does with vectors: sparse
 * fields, deletes, index sorting, filters, limits on visited vectors, timeouts. Lucene finds the format by its name, so that
 * reading an index needs nothing but this module's jar on the class path or module path.
 *
 * <p>A segment has, for all fields of this format,
 * <ul>
 *   <li>{@code .vec} and {@code .vemf}: the vectors, as {@link Lucene99FlatVectorsFormat} describes them;
 *   <li>{@code .vex}: the graphs, each from a multiple of 64 bytes on: a head of 4,096 bytes, per node its codes and neighbours,
 *       the lists of the upper layers, per node ordinal and document, and what the codes stand for;
 *   <li>{@code .vem}: per field its encoding, similarity function, dimension, number of vectors, and where its graph lies.
 * </ul>
 * Both of the latter have Lucene's index header and footer with a checksum.
 *
 * <p>Immutable; thread-safe.
 */
public final class RoostVectorsFormat extends KnnVectorsFormat {
    /** The name by which segments say that they are of this format. */
    public static final String NAME = "RoostVectorsFormat";

    /** Neighbours per node of upper layers, half of those in layer 0, unless said otherwise. */
    public static final int DEFAULT_MAX_CONN = 16;

    /** Width of the searches that a graph is built with, unless said otherwise. */
    public static final int DEFAULT_BEAM_WIDTH = 100;

    /** The most neighbours per node of upper layers. */
    public static final int MAX_MAX_CONN = 256;

    /** The widest searches that a graph can be built with. */
    public static final int MAX_BEAM_WIDTH = 3_200;

    /** Fewer vectors than this are compared with each query, which takes no longer than to search a graph. */
    static final int MIN_FOR_GRAPH = 1_000;

    static final FlatVectorsFormat FLAT =
            new Lucene99FlatVectorsFormat(FlatVectorScorerUtil.getLucene99FlatVectorsScorer());

    private final int maxConn;
    private final int beamWidth;
    private final int leastForGraph;

    /** With the default sizes of a graph. */
    public RoostVectorsFormat() {
        this(DEFAULT_MAX_CONN, DEFAULT_BEAM_WIDTH);
    }

    /**
     * For writing; to read a segment, the sizes are in its files.
     *
     * @param maxConn neighbours per node of upper layers, half of those in layer 0 (HNSW's M), from 1 to {@link
     *     #MAX_MAX_CONN}
     * @param beamWidth of the searches that a graph is built with (HNSW's efConstruction), from 1 to {@link #MAX_BEAM_WIDTH}
     * @throws IllegalArgumentException if one of them is not within its range
     */
    public RoostVectorsFormat(int maxConn, int beamWidth) {
        this(maxConn, beamWidth, MIN_FOR_GRAPH);
    }

    /** @param leastForGraph fewer vectors than this have no graph */
    RoostVectorsFormat(int maxConn, int beamWidth, int leastForGraph) {
        super(NAME);
        requireRange("maxConn", maxConn, MAX_MAX_CONN);
        requireRange("beamWidth", beamWidth, MAX_BEAM_WIDTH);
        this.maxConn = maxConn;
        this.beamWidth = beamWidth;
        this.leastForGraph = leastForGraph;
    }

    private static void requireRange(String name, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(name + " must be between 1 and " + most + ", got " + value);
        }
    }

    @Override
    public KnnVectorsWriter fieldsWriter(SegmentWriteState state) throws IOException {
        return RoostVectorsWriter.open(state, maxConn, beamWidth, leastForGraph);
    }

    @Override
    public KnnVectorsReader fieldsReader(SegmentReadState state) throws IOException {
        return RoostVectorsReader.open(state);
    }

    @Override
    public int getMaxDimensions(String fieldName) {
        return Vectors.MAX_DIMENSIONS;
    }

    @Override
    public String toString() {
        return NAME + "(maxConn=" + maxConn + ", beamWidth=" + beamWidth + ")";
    }
}
