package io.github.roost.index.ivf;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.RowSizes;
import io.github.roost.vector.memory.MemoryLimit;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.TableMemory;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntFunction;

/** Collects the options of a table. Not thread-safe. */
abstract sealed class IvfTableBuilder permits IvfTable.Builder {
    /** Max of {@link IvfTable.Builder#rerank}. */
    static final double MAX_RERANK = 100;

    /** Share of a build's progress after its rows are checked. */
    private static final double READ = .05;

    private static final int ROWS_PER_CHECK = 256;

    private String name = "ivf";
    private Metric metric = Metric.SQUARED_L2;
    private int nlist;
    private int nprobe;
    private double targetRecall = .95;
    private long seed = 42;
    private ElementType elementType = ElementType.FLOAT32;
    private boolean codes = true;
    private int minCoded = Training.MIN_CODED;
    private boolean keepFloats = true;
    private double rerank = 1.5;
    private TableMemory.Mover mover = DomainMemory::migrate;
    private boolean apart;
    private long memoryLimit = MemoryLimited.NO_MEMORY_LIMIT;

    IvfTableBuilder() {}

    abstract IvfTable.Builder self();

    /**
     * Sets the table's name in reports.
     *
     * @param value default {@code ivf}
     * @return this builder
     */
    public IvfTable.Builder name(String value) {
        this.name = Objects.requireNonNull(value, "name must not be null");
        return self();
    }

    /**
     * Sets the distance function.
     *
     * @param value default squared L2
     * @return this builder
     */
    public IvfTable.Builder metric(Metric value) {
        this.metric = Objects.requireNonNull(value, "metric must not be null");
        return self();
    }

    /**
     * Sets the number of lists.
     *
     * @param value from 1 to 131,072 and at most the number of rows; default four times the root of the number of rows
     * @return this builder
     */
    public IvfTable.Builder nlist(int value) {
        this.nlist = requireLists("nlist", value);
        return self();
    }

    /**
     * Sets the default nprobe, used by searches that do not pass one.
     *
     * @param value from 1 to 131,072, capped at the number of lists; default: measured for {@link IvfTable.Builder#targetRecall}
     * @return this builder
     */
    public IvfTable.Builder nprobe(int value) {
        this.nprobe = requireLists("nprobe", value);
        return self();
    }

    /**
     * Sets the share of a query's true 10 nearest rows that the probed lists should hold. The build, and every rebuild, measures with
     * 128 of the rows as queries how many lists that takes. Ignored if {@link IvfTable.Builder#nprobe} is set.
     *
     * @param value from over 0 to 1; default .95
     * @return this builder
     */
    public IvfTable.Builder targetRecall(double value) {
        this.targetRecall = Vectors.requireRecall(value);
        return self();
    }

    /**
     * Sets the seed of the training; the same rows and seed give the same lists.
     *
     * @param value any number
     * @return this builder
     */
    public IvfTable.Builder seed(long value) {
        this.seed = value;
        return self();
    }

    /**
     * Sets the type that lists store each component as.
     *
     * @param value default {@link ElementType#FLOAT32}: 4 bytes per component, and one more with {@link IvfTable.Builder#codes}.
     *     {@link ElementType#FLOAT16}: 2 bytes.
     *     {@link ElementType#INT8}: 1 byte, and 8 per row; scans several times as many rows per second; see
     *     {@link IvfTable.Builder#keepFloats} for its total size
     * @return this builder
     */
    public IvfTable.Builder elementType(ElementType value) {
        this.elementType = Objects.requireNonNull(value, "elementType must not be null");
        return self();
    }

    /**
     * Sets whether {@link ElementType#FLOAT32} lists also store an 8-bit code per component: 5 bytes per component instead
     * of 4, and 8 per row. Scans read codes first and floats only of possible neighbors, so answers are the same to
     * the bit, and a scan reads a quarter of the bytes. The floats of later rows that differ
     * much from their list are always read, until {@link IvfTable#rebuild}.
     *
     * <p>A table of fewer than 1,024 rows has no codes until a rebuild with more rows. A table built with the kernel
     * {@code portable} or {@code java} has none either, as these are no faster with codes. No effect on other types.
     *
     * @param value default true
     * @return this builder
     */
    public IvfTable.Builder codes(boolean value) {
        this.codes = value;
        return self();
    }

    /** Min rows for codes; lower in tests. */
    IvfTable.Builder minCoded(int rows) {
        this.minCoded = rows;
        return self();
    }

    /** Moves the lists' memory; replaced in tests. */
    IvfTable.Builder mover(TableMemory.Mover value) {
        this.mover = value;
        return self();
    }

    /** Gives each list its own home, however small the table is; for tests. */
    IvfTable.Builder apart() {
        this.apart = true;
        return self();
    }

    /**
     * Sets whether {@link ElementType#INT8} lists also store the floats, which rerank the candidates of a search:
     * 5 bytes per component instead of 1. Without floats, distances are to rows rounded to 256 even steps around the center
     * of their list; whole numbers in a range of 256 are kept. If a measurement in the build shows that codes lose near rows, scans read the floats, if there
     * are any, and the log says so. No effect on other types.
     *
     * @param value default true
     * @return this builder
     */
    public IvfTable.Builder keepFloats(boolean value) {
        this.keepFloats = value;
        return self();
    }

    /**
     * Sets how many candidates of a search in {@link ElementType#INT8} lists are reranked with the full-precision query: k
     * plus this multiple of the root of k. The error of the codes swaps rows around the k-th place, over a distance that grows
     * more slowly than k. More candidates find more true neighbors and cost more. No effect on other types.
     *
     * @param value multiple of the root of k, from 0 to 100; default 1.5: 15 candidates for 10 rows, 115 for 100
     * @return this builder
     */
    public IvfTable.Builder rerank(double value) {
        if (!(value >= 0 && value <= MAX_RERANK)) {
            throw new IllegalArgumentException("rerank must be between 0 and 100, got " + value);
        }
        this.rerank = value;
        return self();
    }

    /**
     * Builds a table as {@link IvfTable.Builder#build(Orchestrator, long[], float[][])} does, with the rows' ordinals as ids.
     *
     * @param orchestrator places and builds the table
     * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
     * @return the table, to be closed
     */
    public IvfTable build(Orchestrator orchestrator, float[][] vectors) {
        Objects.requireNonNull(vectors, "vectors must not be null");
        long[] ordinals = new long[vectors.length];
        Arrays.setAll(ordinals, i -> i);
        return build(orchestrator, ordinals, vectors);
    }

    /**
     * Trains and fills a table on the orchestrator's workers, as batch work behind searches. Blocks until the table is
     * complete, and ignores interrupts: for a build that can be ended early, use {@link IvfTable.Builder#start} and {@link TableBuild#cancel()}.
     *
     * @param orchestrator places and builds the table
     * @param ids one per row, no two equal
     * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
     * @return the table, to be closed
     * @throws IllegalArgumentException if rows, ids or options are invalid; then nothing is registered
     */
    public IvfTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
        RowPreparation preparation = RowPreparation.of(metric, elementType, vectors);
        Vectors.requireIds(ids, vectors.length);
        return plan(orchestrator, ids, preparation, RowPreparation.sizesOf(vectors), row -> vectors[row])
                .apply(work(orchestrator));
    }

    /**
     * Starts to train and fill a table from any source of rows, on the orchestrator's workers, as batch work behind
     * searches. Rows are read several times; the complete table holds them only in its own memory, so
     * there may be more rows than fit in the Java heap. The builder may be used again at once.
     *
     * @param orchestrator places and builds the table
     * @param ids one per row, no two equal; must not change during the build
     * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, zero for cosine, or out of the
     *     element type's range fails the build
     * @return the running build; its result is to be closed
     * @throws IllegalArgumentException if ids, dimension or options are invalid
     */
    public TableBuild<IvfTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
        BuildWork.requireRows(ids, rows);
        RowPreparation preparation = new RowPreparation(metric, rows.dimension(), elementType);
        RowSizes sizes = RowPreparation.sizes();
        Function<BuildWork, IvfTable> build = plan(orchestrator, ids, preparation, sizes, rows::row);
        return work(orchestrator).start(work -> {
            work.phase(READ, rows.size());
            work.run(rows.size(), ROWS_PER_CHECK, (from, to) -> {
                for (int row = from; row < to; row++) {
                    float[] values = rows.row(row);
                    preparation.requireRow(row, values);
                    sizes.add(values);
                }
            });
            return build.apply(work);
        });
    }

    private BuildWork work(Orchestrator orchestrator) {
        return new BuildWork(orchestrator, name + " (build)");
    }

    /**
     * Limits the off-heap memory of the table's rows, from the build on; see {@link MemoryLimited#memoryLimit(long)}. A
     * build fails before it begins if even its rows exceed the limit, else at its end if the whole table does.
     *
     * @param bytes at least 1; no limit by default
     * @return this builder
     */
    public IvfTable.Builder memoryLimit(long bytes) {
        this.memoryLimit = MemoryLimit.require(bytes);
        return self();
    }

    /** A lower bound of the bytes that rows take. */
    private long minBytes(int rows, int dimension) {
        long bytes = switch (elementType) {
            case FLOAT32 -> Float.BYTES;
            case FLOAT16 -> Short.BYTES;
            case INT8 -> Byte.BYTES;
        };
        return rows * (bytes * dimension + Long.BYTES);
    }

    /**
     * The build, with the options as they are now.
     *
     * @param sizes of all rows, when the build begins
     */
    private Function<BuildWork, IvfTable> plan(
            Orchestrator orchestrator,
            long[] ids,
            RowPreparation preparation,
            RowSizes sizes,
            IntFunction<float[]> rows) {
        int lists = nlist == 0 ? defaultNlist(ids.length) : nlist;
        if (lists > ids.length) {
            throw new IllegalArgumentException(
                    "nlist must be at most the number of rows, " + ids.length + ", got " + lists);
        }
        MemoryLimit.admit(name, memoryLimit, minBytes(ids.length, preparation.dimension()));
        Training training = new Training(
                ScanKernels.preferred(), seed, metric, elementType, codes, minCoded, keepFloats, nprobe, targetRecall);
        String tableName = name;
        double candidates = rerank;
        TableMemory.Mover moves = mover;
        boolean areApart = apart;
        long limit = memoryLimit;
        return work -> {
            RowPreparation fitted = preparation.fittedTo(sizes);
            IntFunction<float[]> stored = row -> fitted.stored(rows.apply(row));
            RowMap locations = new RowMap(ids.length);
            boolean isDone = false;
            try {
                Lists filled = training.lists(work, stored, ids, lists, preparation.dimension(), locations);
                IvfRows built = new IvfRows(filled, locations);
                MemoryLimit.admit(tableName, limit, built.bytes());
                IvfTable table = new IvfTable(
                        orchestrator,
                        orchestrator.register(tableName, lists),
                        fitted,
                        training,
                        built,
                        candidates,
                        moves,
                        areApart);
                isDone = true;
                table.memoryLimit(limit);
                return table;
            } finally {
                if (!isDone) {
                    locations.close();
                }
            }
        };
    }

    /**
     * Returns the number of lists of a table for which {@link IvfTable.Builder#nlist} is not set.
     *
     * @param rows number of rows, at least 1
     * @return four times the root of the number of rows, at most that number
     */
    public static int defaultNlist(int rows) {
        return Math.clamp((long) (4 * Math.sqrt(rows)), 1, rows);
    }

    private static int requireLists(String what, int value) {
        Vectors.requireRange(what, value, 1, MappingId.MAX_PER_ORCHESTRATOR);
        return value;
    }
}
