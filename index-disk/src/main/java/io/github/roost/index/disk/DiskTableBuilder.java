package io.github.roost.index.disk;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.kernel.VectorModule;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.VectorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Collects the options of a table on disk, and builds its file. Not thread-safe. */
public final class DiskTableBuilder {
    private static final int MAX_DEGREE = 256;
    private static final int MAX_BUILD_WIDTH = 10_000;

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
        Vectors.requireRange("degree", value, 2, MAX_DEGREE);
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
        Vectors.requireRange("build width", value, 1, MAX_BUILD_WIDTH);
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
        Vectors.requireRange("code bytes", value, 0, Vectors.MAX_DIMENSIONS);
        this.codeBytes = value;
        return this;
    }

    /**
     * Builds a table's file on the orchestrator's workers, as batch work beside what they serve; codes are trained on the common
     * pool. A copy of the rows lies beside the file meanwhile, in one without a name, which is mapped; some 500 bytes per row are on the
     * heap for the graph. When this returns the file survives a loss of power; where it does not, no table can
     * be opened of what is left.
     *
     * @param orchestrator builds it
     * @param io writes it
     * @param path a file that is not there or empty
     * @param ids one external id per row, none twice
     * @param rows at least one, all of one dimension, finite; a row and its neighbours must fit a page of 4 KiB
     * @throws IOException if the file cannot be written, or holds something; what was written of it is deleted
     * @throws IllegalArgumentException if a row, an id or an option is not as said
     */
    public void build(Orchestrator orchestrator, BlockIo io, Path path, long[] ids, float[][] rows) throws IOException {
        Vectors.requireTable(rows, metric);
        build(orchestrator, io, path, ids, VectorSource.of(rows));
    }

    /**
     * {@link #build(Orchestrator, BlockIo, Path, long[], float[][])} of rows that are read one by one.
     *
     * @param orchestrator builds it
     * @param io writes it
     * @param path a file that is not there or empty
     * @param ids one external id per row, none twice
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @throws IOException if the file cannot be written, or holds something; what was written of it is deleted
     * @throws IllegalArgumentException if a row, an id or an option is not as said
     */
    public void build(Orchestrator orchestrator, BlockIo io, Path path, long[] ids, VectorSource rows)
            throws IOException {
        new Plan(layout(ids, rows), metric, buildWidth).build(work(orchestrator, path), io, path, ids, rows);
    }

    /**
     * Begins to build a table's file, as {@link #build(Orchestrator, BlockIo, Path, long[], VectorSource)} does, and to open it.
     * Cancelling deletes what was written, unless that is all already. The build ends within microseconds, but in the training of codes, which
     * ends after a step of some tenths of a second, and in a write or sync of the file.
     *
     * @param orchestrator builds the file, and places the table
     * @param io writes the file, and reads it for the table: to be closed after that
     * @param name under which the table shows in reports
     * @param path a file that is not there or empty
     * @param ids one external id per row, none twice; must not change during the build
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @return under way; its result takes updates, and is to be closed
     * @throws IllegalArgumentException if ids, dimension or an option is not as said
     */
    public TableBuild<DiskTable> start(
            Orchestrator orchestrator, BlockIo io, String name, Path path, long[] ids, VectorSource rows) {
        return start(orchestrator, io, path, ids, rows, () -> DiskTable.open(orchestrator, io, name, path));
    }

    /**
     * {@link #start} of a table that takes no updates: nothing lies beside its file, which may be moved when the table is closed.
     *
     * @param orchestrator builds the file, and places the table
     * @param io writes the file, and reads it for the table: to be closed after that
     * @param name under which the table shows in reports
     * @param path a file that is not there or empty
     * @param ids one external id per row, none twice; must not change during the build
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @return under way; its result is to be closed
     * @throws IllegalArgumentException if ids, dimension or an option is not as said
     */
    public TableBuild<DiskTable> startReadOnly(
            Orchestrator orchestrator, BlockIo io, String name, Path path, long[] ids, VectorSource rows) {
        return start(orchestrator, io, path, ids, rows, () -> DiskTable.openReadOnly(orchestrator, io, name, path));
    }

    /** Opens the table that was built. */
    @FunctionalInterface
    private interface Opening {
        DiskTable open() throws IOException;
    }

    private TableBuild<DiskTable> start(
            Orchestrator orchestrator, BlockIo io, Path path, long[] ids, VectorSource rows, Opening opening) {
        Plan plan = new Plan(layout(ids, rows), metric, buildWidth);
        return TableBuild.start(work(orchestrator, path), work -> {
            try {
                plan.build(work, io, path, ids, rows);
                return opening.open();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }

    private static BuildWork work(Orchestrator orchestrator, Path path) {
        return new BuildWork(orchestrator, path.getFileName() + " (build)");
    }

    /** Checks what can be checked at once. */
    private DiskLayout layout(long[] ids, VectorSource rows) {
        VectorModule.requireArguments();
        Vectors.requireRange("number of vectors", rows.size(), 1, Integer.MAX_VALUE - 8);
        Vectors.requireRange("dimension", rows.dimension(), 1, Vectors.MAX_DIMENSIONS);
        Vectors.requireIds(ids, rows.size());
        return layout(rows.dimension());
    }

    /** The options of one build, which the builder may change meanwhile. */
    private record Plan(DiskLayout layout, Metric metric, int width) {
        void build(BuildWork work, BlockIo io, Path path, long[] ids, VectorSource rows) throws IOException {
            try (BlockFile file = io.openForUpdate(path)) {
                if (file.blocks() > 0) {
                    throw new IOException(path + " holds something already");
                }
                try {
                    new DiskBuild(work, layout, metric, width).run(file, ids, rows);
                } catch (Throwable failed) {
                    Files.deleteIfExists(path);
                    throw failed;
                }
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
