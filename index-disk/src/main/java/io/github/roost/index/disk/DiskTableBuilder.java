package io.github.roost.index.disk;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Collects the options of a table on disk, and builds its file. Not thread-safe. */
public final class DiskTableBuilder {
    private static final int MOST_DEGREE = 256;
    private static final int MOST_BUILD_WIDTH = 10_000;

    private Metric metric = Metric.SQUARED_L2;
    private int degree = 32;
    private int buildWidth = 100;
    private int codeBytes;

    DiskTableBuilder() {}

    /**
     * Sets how distances are measured.
     *
     * @param value {@link Metric#SQUARED_L2}, the default, or {@link Metric#COSINE}
     * @return this builder
     * @throws IllegalArgumentException for {@link Metric#INNER_PRODUCT}, by which a graph on disk is not built
     */
    public DiskTableBuilder metric(Metric value) {
        if (value == Metric.INNER_PRODUCT) {
            throw new IllegalArgumentException(
                    "metric of a table on disk must be SQUARED_L2 or COSINE, got INNER_PRODUCT");
        }
        this.metric = Objects.requireNonNull(value, "metric must not be null");
        return this;
    }

    /**
     * Sets how many neighbours a node has at most.
     *
     * @param value from 2 to 256; default 32
     * @return this builder
     */
    public DiskTableBuilder degree(int value) {
        Vectors.requireRange("degree", value, 2, MOST_DEGREE);
        this.degree = value;
        return this;
    }

    /**
     * Sets the width of the searches that find a new node's neighbours.
     *
     * @param value from 1 to 10,000; default 100
     * @return this builder
     */
    public DiskTableBuilder buildWidth(int value) {
        Vectors.requireRange("build width", value, 1, MOST_BUILD_WIDTH);
        this.buildWidth = value;
        return this;
    }

    /**
     * Sets how many bytes of memory the code of a vector takes.
     *
     * @param value from 1 to the dimension, or 0 for the default: a quarter of the dimension, from 8 to 128
     * @return this builder
     */
    public DiskTableBuilder codeBytes(int value) {
        Vectors.requireRange("code bytes", value, 0, Vectors.MOST_DIMENSIONS);
        this.codeBytes = value;
        return this;
    }

    /**
     * Builds a table's file on the orchestrator's workers, as batch work beside what they serve; codes are trained on the common
     * pool. All rows are on the heap meanwhile. When this returns the file survives a loss of power; where it does not, no table can
     * be opened of what is left.
     *
     * @param orchestrator builds it
     * @param io writes it
     * @param path a file that is not there or empty
     * @param ids one external id a row, none twice
     * @param rows at least one, all of one dimension, finite; a row and its neighbours must fit a page of 4 KiB
     * @throws IOException if the file cannot be written, or holds something; what was written of it is deleted
     * @throws IllegalArgumentException if a row, an id or an option is not as said
     */
    public void build(Orchestrator orchestrator, BlockIo io, Path path, long[] ids, float[][] rows) throws IOException {
        int dimension = Vectors.requireTable(rows, metric);
        Vectors.requireIds(ids, rows.length);
        DiskLayout layout = layout(dimension);
        try (BlockFile file = io.openForUpdate(path)) {
            if (file.blocks() > 0) {
                throw new IOException(path + " holds something already");
            }
            try {
                new DiskBuild(orchestrator, layout, metric, buildWidth).run(file, ids, rows);
            } catch (Throwable failed) {
                Files.deleteIfExists(path);
                throw failed;
            }
        }
    }

    private DiskLayout layout(int dimension) {
        int bytes = codeBytes == 0 ? Math.min(dimension, Math.clamp(dimension / 4, 8, 128)) : codeBytes;
        if (bytes > dimension) {
            throw new IllegalArgumentException(
                    "code bytes must be at most the dimension, " + dimension + ", got " + bytes);
        }
        DiskLayout layout = new DiskLayout(dimension, degree, bytes);
        if (layout.nodesPerPage() == 0) {
            int room = DiskLayout.PAGE_BYTES - DiskLayout.PAGE_HEADER_BYTES - layout.nodeBytes();
            int most = dimension + room / Float.BYTES - (room % Float.BYTES == 0 ? 0 : 1);
            throw new IllegalArgumentException("dimension of a table on disk with " + degree
                    + " neighbours per node must be at most " + most + ", got " + dimension);
        }
        return layout;
    }
}
