package io.github.roost.index.disk;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.build.DiskBuild;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.Folders;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.HeldFile;
import io.github.roost.vector.kernel.VectorModule;
import io.github.roost.vector.spi.BuildWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Collects the options of a table on disk, and builds its file. Not thread-safe. */
abstract sealed class DiskTableBuilder permits DiskTable.Builder {
    private static final int MAX_DEGREE = 256;
    private static final int MAX_BUILD_WIDTH = 10_000;

    private Metric metric = Metric.SQUARED_L2;
    private int degree = 32;
    private int buildWidth = 100;
    private int codeBytes;

    DiskTableBuilder() {}

    abstract DiskTable.Builder self();

    /**
     * Sets the distance function.
     *
     * @param value {@link Metric#SQUARED_L2}, the default, or {@link Metric#COSINE}
     * @return this builder
     * @throws IllegalArgumentException for {@link Metric#INNER_PRODUCT}, which graphs on disk do not support
     */
    public DiskTable.Builder metric(Metric value) {
        if (value == Metric.INNER_PRODUCT) {
            throw new IllegalArgumentException(
                    "metric of a table on disk must be SQUARED_L2 or COSINE, got INNER_PRODUCT");
        }
        this.metric = Objects.requireNonNull(value, "metric must not be null");
        return self();
    }

    /**
     * Sets the max number of neighbors per node.
     *
     * @param value from 2 to 256; default 32
     * @return this builder
     */
    public DiskTable.Builder degree(int value) {
        Vectors.requireRange("degree", value, 2, MAX_DEGREE);
        this.degree = value;
        return self();
    }

    /**
     * Sets the width of the searches that find a new node's neighbors.
     *
     * @param value from 1 to 10,000; default 100
     * @return this builder
     */
    public DiskTable.Builder buildWidth(int value) {
        Vectors.requireRange("build width", value, 1, MAX_BUILD_WIDTH);
        this.buildWidth = value;
        return self();
    }

    /**
     * Sets the bytes of memory per code of a vector.
     *
     * @param value from 1 to the dimension, or 0 for the default: a quarter of the dimension, from 8 to 128
     * @return this builder
     */
    public DiskTable.Builder codeBytes(int value) {
        Vectors.requireRange("code bytes", value, 0, Vectors.MAX_DIMENSIONS);
        this.codeBytes = value;
        return self();
    }

    /**
     * Builds a table's file on the orchestrator's workers, as batch work behind searches; codes are trained on the common
     * pool. A copy of the rows is in a mapped temporary file without a name in the same folder meanwhile; the graph takes some 500
     * bytes of heap per row. When this returns, the file and its entry in the folder survive a power loss; if it does not
     * return, no table can be opened from the remains. Ignores an interrupt, unless it comes during a sync, which fails the build: for a build that
     * can be ended early, use {@link DiskTable.Builder#start} and {@link TableBuild#cancel()}.
     *
     * @param orchestrator builds it
     * @param io writes it
     * @param path a file that does not exist or is empty
     * @param ids one external id per row, no two equal
     * @param rows at least one, all of one dimension, finite, not zero for cosine; a row and its neighbors must fit a page of 4 KiB
     * @throws IOException if the file cannot be written, or is not empty, or another build of this process writes it; a partly written file is deleted
     * @throws IllegalArgumentException if a row, an id or an option is invalid
     */
    public void build(Orchestrator orchestrator, BlockIo io, Path path, long[] ids, float[][] rows) throws IOException {
        Objects.requireNonNull(rows, "rows must not be null");
        Vectors.requireTable(rows, metric);
        build(orchestrator, io, path, ids, VectorSource.of(rows));
    }

    /**
     * Builds a table's file as {@link DiskTable.Builder#build(Orchestrator, BlockIo, Path, long[], float[][])} does, from rows read one by one.
     *
     * @param orchestrator builds it
     * @param io writes it
     * @param path a file that does not exist or is empty
     * @param ids one external id per row, no two equal
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @throws IOException if the file cannot be written, or is not empty; a partly written file is deleted
     * @throws IllegalArgumentException if a row, an id or an option is invalid
     */
    public void build(Orchestrator orchestrator, BlockIo io, Path path, long[] ids, VectorSource rows)
            throws IOException {
        new Plan(layout(ids, rows), metric, buildWidth).build(work(orchestrator, path), io, path, ids, rows);
    }

    /**
     * Starts to build a table's file, as {@link DiskTable.Builder#build(Orchestrator, BlockIo, Path, long[], VectorSource)} does, and then opens it.
     * Cancelling deletes the file, unless it is already complete. A cancelled build ends within microseconds, except in the training
     * of codes, where it ends after a step of some tenths of a second, and in a write or sync of the file.
     *
     * @param orchestrator builds the file, and places the table
     * @param io writes the file, and reads it for the table; closed after the table
     * @param name the table's name in reports
     * @param path a file that does not exist or is empty
     * @param ids one external id per row, no two equal; must not change during the build
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @return the running build; its result is to be closed
     * @throws IllegalArgumentException if ids, dimension or an option is invalid
     */
    public TableBuild<MutableDiskTable> start(
            Orchestrator orchestrator, BlockIo io, String name, Path path, long[] ids, VectorSource rows) {
        return start(orchestrator, io, path, ids, rows, () -> DiskTable.open(orchestrator, io, name, path));
    }

    /**
     * Starts to build a table as {@link DiskTable.Builder#start} does, but opens it read-only: it has no logs, and its file may be moved after close.
     *
     * @param orchestrator builds the file, and places the table
     * @param io writes the file, and reads it for the table; closed after the table
     * @param name the table's name in reports
     * @param path a file that does not exist or is empty
     * @param ids one external id per row, no two equal; must not change during the build
     * @param rows at least one; a row that is not finite, or zero for cosine, fails the build
     * @return the running build; its result is to be closed
     * @throws IllegalArgumentException if ids, dimension or an option is invalid
     */
    public TableBuild<DiskTable> startReadOnly(
            Orchestrator orchestrator, BlockIo io, String name, Path path, long[] ids, VectorSource rows) {
        return start(orchestrator, io, path, ids, rows, () -> DiskTable.openReadOnly(orchestrator, io, name, path));
    }

    /** Opens a built table. */
    @FunctionalInterface
    private interface Opening<T extends DiskTable> {
        T open() throws IOException;
    }

    private <T extends DiskTable> TableBuild<T> start(
            Orchestrator orchestrator, BlockIo io, Path path, long[] ids, VectorSource rows, Opening<T> opening) {
        Objects.requireNonNull(io, "io must not be null");
        Plan plan = new Plan(layout(ids, rows), metric, buildWidth);
        return work(orchestrator, path).start(work -> {
            try {
                plan.build(work, io, path, ids, rows);
                return opening.open();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }

    private static BuildWork work(Orchestrator orchestrator, Path path) {
        Objects.requireNonNull(path, "path must not be null");
        return new BuildWork(orchestrator, path.getFileName() + " (build)");
    }

    /** Checks everything that does not need the rows themselves. */
    private DiskLayout layout(long[] ids, VectorSource rows) {
        VectorModule.requireArguments();
        BuildWork.requireRows(ids, rows);
        Vectors.requireRange("rows of a table on disk", rows.size(), 1, Superblock.MAX_NODES);
        return layout(rows.dimension());
    }

    /** A snapshot of the options, as the builder may change during the build. */
    private record Plan(DiskLayout layout, Metric metric, int width) {
        void build(BuildWork work, BlockIo io, Path path, long[] ids, VectorSource rows) throws IOException {
            // A build that fails deletes the file.
            if (Files.exists(path) && !Files.isRegularFile(path)) {
                throw new IOException(path + " is not a regular file");
            }
            // Held first: another build may be filling it.
            try (HeldFile _ = Folders.hold(path);
                    BlockFile file = io.openForUpdate(path)) {
                // A file that is shorter than a block has none.
                if (file.blocks() > 0 || (Files.exists(path) && Files.size(path) > 0)) {
                    throw new IOException(path + " is not empty: a table needs a new or an empty file");
                }
                try {
                    new DiskBuild(work, layout, metric, width).run(file, ids, rows);
                    Folders.sync(path);
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
            int max = dimension + room / Float.BYTES - (room % Float.BYTES == 0 ? 0 : 1);
            throw new IllegalArgumentException("dimension of a table on disk with " + degree
                    + " neighbors per node must be at most " + max + ", got " + dimension);
        }
        return layout;
    }
}
