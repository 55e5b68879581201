package io.github.roost.index.hnsw.graph;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.index.hnsw.search.BuildMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.RowSizes;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Off-heap copy of the rows of a table under construction, in the space of its graph. Written once, then immutable; thread-safe
 * until it is closed.
 */
final class GraphRows implements AutoCloseable {
    /** Rows read per step of batch work. */
    private static final int RUN = 64;

    private final int size;
    private final int dimension;
    private final BuildMemory memory = new BuildMemory();
    private final MemorySegment rows;
    private GraphSpace space;

    private GraphRows(int size, int dimension, Metric metric) {
        this.size = size;
        this.dimension = dimension;
        this.space = new GraphSpace(metric, 0, 0);
        this.rows = memory.allocate((long) size * dimension * Float.BYTES);
    }

    /**
     * Reads each row once and transforms it into the space of the graph.
     *
     * @throws IllegalArgumentException if a row is not finite, or zero under cosine
     */
    static GraphRows read(BuildWork work, VectorSource source, Metric metric) {
        GraphRows read = new GraphRows(source.size(), source.dimension(), metric);
        boolean done = false;
        try {
            read.fill(work, source, metric);
            done = true;
            return read;
        } finally {
            if (!done) {
                read.close();
            }
        }
    }

    private void fill(BuildWork work, VectorSource source, Metric metric) {
        RowSizes sizes = GraphSpace.sizes();
        work.run(size, RUN, (from, to) -> {
            float[] values = new float[dimension];
            for (int row = from; row < to; row++) {
                work.yieldToSearches();
                source.read(row, values);
                Vectors.requireRow(row, values, dimension, metric);
                sizes.add(values);
                write(row, values);
            }
        });
        GraphSpace found = GraphSpace.of(sizes, metric);
        space = found;
        if (metric == Metric.COSINE || found.exponent() != 0) {
            work.run(size, RUN, (from, to) -> {
                float[] values = new float[dimension];
                for (int row = from; row < to; row++) {
                    work.yieldToSearches();
                    vector(row, values);
                    write(row, found.row(values));
                }
            });
        }
    }

    /** Writes a row with one kind of zero: rows that no distance tells apart are bit-equal then. */
    private void write(int row, float[] values) {
        for (int i = 0; i < dimension; i++) {
            values[i] += 0f;
        }
        MemorySegment.copy(values, 0, rows, JAVA_FLOAT, at(row), dimension);
    }

    private long at(int row) {
        return (long) row * dimension * Float.BYTES;
    }

    int size() {
        return size;
    }

    int dimension() {
        return dimension;
    }

    GraphSpace space() {
        return space;
    }

    /** Copies a row to the beginning of an array. */
    void vector(int row, float[] into) {
        MemorySegment.copy(rows, JAVA_FLOAT, at(row), into, 0, dimension);
    }

    float[] vector(int row) {
        float[] values = new float[dimension];
        vector(row, values);
        return values;
    }

    /** Whether two rows are bit-equal. */
    boolean isEqual(int row, int other) {
        return MemorySegment.mismatch(rows, at(row), at(row + 1), rows, at(other), at(other + 1)) < 0;
    }

    /** A hash that is equal for equal rows; {@code values} is scratch space. */
    int hash(int row, float[] values) {
        vector(row, values);
        return Arrays.hashCode(values);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        memory.close();
    }
}
