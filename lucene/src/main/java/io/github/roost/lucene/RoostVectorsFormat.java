package io.github.roost.lucene;

import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99FlatVectorsFormat;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;

/**
 * A vector format for Lucene. Vectors are stored as in {@link Lucene99FlatVectorsFormat}. Each field also has an HNSW graph (Malkov
 * and Yashunin, IEEE TPAMI 42(4), 2020) with SQ8 codes, one byte per component, which Roost searches in C, in place in the mapped
 * segment; if the codes of a sample find less than 95 % of its neighbors, the graph has a copy of the vectors instead. The best candidates are reranked by their vectors, so scores are Lucene's own.
 *
 * <p>A refresh waits for no graph: fewer than 10,000 vectors that are flushed, or 2,000 that are merged, have only codes, which a search
 * compares; fewer than 256 have neither.
 *
 * <p>Supports float and byte vectors under every similarity function, and all of Lucene's vector features: sparse
 * fields, deletes, index sorting, filters, limits on visited vectors, timeouts. Lucene finds the format by its name, so
 * reading an index only needs this module's jar on the class path or module path.
 *
 * <p>A segment has these files for all fields of this format:
 * <ul>
 *   <li>{@code .vec} and {@code .vemf}: the vectors, see {@link Lucene99FlatVectorsFormat};
 *   <li>{@code .vex}: the graphs, each aligned to 64 bytes: a head of 4,096 bytes, codes (or vectors) and neighbors per node,
 *       the neighbor lists of the upper layers, ordinal and document per node, term and scale of its codes, and the center of all;
 *   <li>{@code .vem}: per field the encoding, similarity function, dimension, number of vectors, and the offset and length of its
 *       graph.
 * </ul>
 * The last two have Lucene's index header, and a footer with a checksum.
 *
 * <p>Immutable; thread-safe.
 */
public final class RoostVectorsFormat extends KnnVectorsFormat {
    /** The format's name, by which segments refer to it. */
    public static final String NAME = "RoostVectorsFormat";

    /** Default {@code maxConn}: max neighbors per node in upper layers, half of the max in layer 0. */
    public static final int DEFAULT_MAX_CONN = 16;

    /** Default {@code beamWidth}: width of the searches that build a graph. */
    public static final int DEFAULT_BEAM_WIDTH = 100;

    /** Largest {@code maxConn}. */
    public static final int MAX_MAX_CONN = 256;

    /** Largest {@code beamWidth}. */
    public static final int MAX_BEAM_WIDTH = 3_200;

    static final FlatVectorsFormat FLAT =
            new Lucene99FlatVectorsFormat(FlatVectorScorerUtil.getLucene99FlatVectorsScorer());

    private final int maxConn;
    private final int beamWidth;
    private final MinSizes minSizes;
    private final GraphBuilds builds;

    /** Creates a format with the default {@code maxConn} and {@code beamWidth}. */
    public RoostVectorsFormat() {
        this(DEFAULT_MAX_CONN, DEFAULT_BEAM_WIDTH);
    }

    /**
     * Creates a format with given graph parameters. They apply to writing; readers do not need them.
     *
     * @param maxConn HNSW's M, the max neighbors per node in upper layers, half of the max in layer 0; from 1 to {@link
     *     #MAX_MAX_CONN}
     * @param beamWidth HNSW's efConstruction, the width of the searches that build a graph; from 1 to {@link #MAX_BEAM_WIDTH}
     * @throws IllegalArgumentException if a value is out of range
     */
    public RoostVectorsFormat(int maxConn, int beamWidth) {
        this(maxConn, beamWidth, GraphBuilds.IN_CALLER);
    }

    /**
     * Creates a format with given graph parameters, and with the threads that build graphs. They apply to writing; readers do not
     * need them.
     *
     * @param maxConn as in {@link #RoostVectorsFormat(int, int)}
     * @param beamWidth as in {@link #RoostVectorsFormat(int, int)}
     * @param builds the threads, such as {@link GraphBuilds#on}
     * @throws IllegalArgumentException if a value is out of range
     */
    public RoostVectorsFormat(int maxConn, int beamWidth, GraphBuilds builds) {
        this(maxConn, beamWidth, MinSizes.DEFAULT, builds);
    }

    RoostVectorsFormat(int maxConn, int beamWidth, MinSizes minSizes, GraphBuilds builds) {
        super(NAME);
        Vectors.requireRange("maxConn", maxConn, 1, MAX_MAX_CONN);
        Vectors.requireRange("beamWidth", beamWidth, 1, MAX_BEAM_WIDTH);
        this.maxConn = maxConn;
        this.beamWidth = beamWidth;
        this.minSizes = minSizes;
        this.builds = Objects.requireNonNull(builds, "builds must not be null");
    }

    @Override
    public KnnVectorsWriter fieldsWriter(SegmentWriteState state) throws IOException {
        return RoostVectorsWriter.open(state, maxConn, beamWidth, minSizes, builds);
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
