package io.github.roost.index.hnsw.graph;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.CodeRecall;
import io.github.roost.vector.math.ScalarQuantizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Vectors in the form in which a graph of codes stores them, off-heap, in row order: SQ8 codes (see {@link ScalarQuantizer}), one byte per
 * component, or, if codes would lose too much, the vectors. Thread-safe until it is closed.
 */
public final class CodedRows implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CodedRows.class);

    /** Rows of a usual sample per row of a small one. */
    private static final int SMALLER_SAMPLE = 16;

    private final Metric metric;
    private final int dimension;
    /** Null for vectors. */
    private final @Nullable ScalarQuantizer quantizer;

    private final int rows;
    private final long stride;
    private final Arena arena;
    private final MemorySegment memory;
    /** Of codes: each row's term and scale. */
    private final float[] factors;

    private CodedRows(Metric metric, int dimension, @Nullable ScalarQuantizer quantizer, int rows, Arena arena) {
        this.arena = arena;
        this.metric = metric;
        this.dimension = dimension;
        this.quantizer = quantizer;
        this.rows = rows;
        this.stride = quantizer == null ? (long) dimension * Float.BYTES : dimension;
        this.factors = new float[quantizer == null ? 0 : 2 * rows];
        this.memory = DomainMemory.allocate(rows * stride, arena);
    }

    /** A source of vectors, numbered from 0. */
    @FunctionalInterface
    public interface Source {
        /**
         * Copies a vector.
         *
         * @param row number of the vector
         * @param into the destination, with one element per component; all values must be finite
         * @throws IOException if the vector cannot be read; aborts the encoding
         */
        void row(int row, float[] into) throws IOException;
    }

    /**
     * Encodes float vectors, or copies them if the codes of a sample find fewer of each other's neighbors than {@link CodeRecall#ENOUGH};
     * then it logs so. Reads a sample, then all vectors in order.
     *
     * @param name the vectors' name in the log
     * @param metric the metric of the graph's searches; under {@link Metric#COSINE} vectors must be of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows number of vectors, from 1
     * @param source the vectors
     * @param quick whether the samples are small, so that some thousand rows take milliseconds; then only this thread may use the codes
     * @param betweenRows runs every few microseconds
     * @return their codes
     * @throws IOException if the source throws it
     */
    public static CodedRows ofFloats(
            String name, Metric metric, int dimension, int rows, Source source, boolean quick, Runnable betweenRows)
            throws IOException {
        try {
            int step = quick ? SMALLER_SAMPLE : 1;
            int[] sample = ScalarQuantizer.sample(rows);
            ScalarQuantizer quantizer = ScalarQuantizer.of(IntStream.range(0, Math.ceilDiv(sample.length, step))
                    .mapToObj(i -> read(source, sample[i * step], dimension))
                    .toArray(float[][]::new));
            int queries = quick ? CodeRecall.FEW_QUERIES : CodeRecall.QUERIES;
            double recall =
                    CodeRecall.of(metric, quantizer, row -> read(source, row, dimension), rows, queries, betweenRows);
            GraphLayout.Choice choice = GraphLayout.byRecall(recall);
            if (choice.layout() == GraphLayout.INT8) {
                return new CodedRows(metric, dimension, quantizer, rows, arena(quick)).filled(source, betweenRows);
            }
            LOG.info("the graph of {} is laid out as {}: {}", name, choice.layout(), choice.reason());
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
        return new CodedRows(metric, dimension, null, rows, arena(quick)).filled(source, betweenRows);
    }

    /** The end of a shared arena waits for all threads of the JVM. */
    private static Arena arena(boolean quick) {
        return quick ? Arena.ofConfined() : Arena.ofShared();
    }

    private static float[] read(Source source, int row, int dimension) {
        float[] vector = new float[dimension];
        try {
            source.row(row, vector);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return vector;
    }

    /**
     * Encodes vectors whose values are integers from -128 to 127, without loss: the codes are the values. Reads the vectors once, in
     * order.
     *
     * @param metric the metric of the graph's searches; not {@link Metric#COSINE}, which needs vectors of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows number of vectors, from 1
     * @param source the vectors
     * @param betweenRows runs every few microseconds
     * @return their codes
     * @throws IOException if the source throws it
     */
    public static CodedRows ofBytes(Metric metric, int dimension, int rows, Source source, Runnable betweenRows)
            throws IOException {
        return new CodedRows(metric, dimension, ScalarQuantizer.ofBytes(dimension), rows, Arena.ofShared())
                .filled(source, betweenRows);
    }

    private CodedRows filled(Source source, Runnable betweenRows) throws IOException {
        boolean filled = false;
        try {
            float[] vector = new float[dimension];
            byte[] codes = new byte[dimension];
            for (int row = 0; row < rows; row++) {
                betweenRows.run();
                source.row(row, vector);
                if (quantizer == null) {
                    MemorySegment.copy(vector, 0, memory, JAVA_FLOAT, row * stride, dimension);
                } else {
                    float scale = quantizer.encode(vector, codes);
                    factors[2 * row] = quantizer.term(metric == Metric.INNER_PRODUCT, codes, scale);
                    factors[2 * row + 1] = scale;
                    MemorySegment.copy(MemorySegment.ofArray(codes), 0, memory, row * stride, dimension);
                }
            }
            filled = true;
            return this;
        } finally {
            if (!filled) {
                close();
            }
        }
    }

    /**
     * The number of vectors.
     *
     * @return at least 1
     */
    public int rows() {
        return rows;
    }

    int dimension() {
        return dimension;
    }

    Metric metric() {
        return metric;
    }

    /** {@return what an image stores of these rows: codes or vectors} */
    public GraphImage.Content content() {
        return quantizer == null ? GraphImage.Content.VECTORS : GraphImage.Content.CODES;
    }

    /**
     * Copies the center of the codes, if these are codes, to an image.
     *
     * @param image an image of this {@linkplain #content() content}
     */
    public void copyCenter(GraphImage image) {
        if (quantizer != null) {
            image.setQuantizer(quantizer);
        }
    }

    /**
     * Copies a row to a node of an image.
     *
     * @param row the row
     * @param image an image of this {@linkplain #content() content} and dimension
     * @param node the node
     */
    public void copy(int row, GraphImage image, int node) {
        if (quantizer == null) {
            image.setVector(node, memory.asSlice(row * stride, stride).toArray(JAVA_FLOAT));
        } else {
            image.setCodes(node, memory, row * stride, factors[2 * row], factors[2 * row + 1]);
        }
    }

    /** Frees the memory. The codes must not be used afterwards. */
    @Override
    public void close() {
        arena.close();
    }
}
