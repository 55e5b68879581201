package io.github.roost.index.hnsw;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.hnsw.format.HnswFormats;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphBuild;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.TableMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An HNSW table (Malkov and Yashunin, IEEE TPAMI 42(4), 2020) whose rows are fixed. The graph is built in C or by jvector, written
 * into off-heap memory, and placed by an orchestrator as one mapping id, or as up to 64 if it is larger than a cache. One query
 * is one task:
 *
 * <pre>{@code
 * HnswTable table = HnswTable.builder().name("products").build(orchestrator, vectors);
 * CompletableFuture<SearchResult> answer = table.search(query, 10);
 * }</pre>
 *
 * <p>The graph is searched in C, or in Java if no native library can be loaded. Each search has its own visited marks and heaps, so
 * searches share no writable memory. For rows that change use a {@link LiveTable}. The default ef of a search is max(100, 2 k). On
 * a machine with several NUMA nodes the table's memory follows its home, unless it is mapped from a file ({@link TableMemory}).
 * Thread-safe.
 */
public final class HnswTable extends GraphTable {
    /** The format of saved HNSW tables. */
    public static final TableFormat FORMAT = HnswFormats.TABLE;

    /** Sampled rows per region, for the k-means that finds the regions. */
    private static final int ROWS_PER_REGION = 64;

    private static final long REGIONS_SEED = 25;

    private final FixedRows rows;

    private volatile GraphLayout.Choice choice;
    private final TableMemory memory;
    private final RegionRouter regions;

    HnswTable(Orchestrator orchestrator, String name, Graph graph, TableMemory.Mover mover) {
        this(orchestrator, name, new LayoutSelection.Selected(graph, requestedChoice(graph)), mover);
    }

    private HnswTable(
            Orchestrator orchestrator, String name, LayoutSelection.Selected selected, TableMemory.Mover mover) {
        this(orchestrator, name, selected, mover, regions(orchestrator, name, selected.graph()));
    }

    HnswTable(Orchestrator orchestrator, String name, Graph graph, TableMemory.Mover mover, RegionRouter regions) {
        this(orchestrator, name, new LayoutSelection.Selected(graph, requestedChoice(graph)), mover, regions);
    }

    private HnswTable(
            Orchestrator orchestrator,
            String name,
            LayoutSelection.Selected selected,
            TableMemory.Mover mover,
            RegionRouter regions) {
        Graph graph = selected.graph();
        GraphImage.Shape shape = graph.image().shape();
        FixedRows rows = new FixedRows(graph);
        super(
                orchestrator,
                orchestrator.register(name, regions.regions()),
                shape.metric(),
                elementType(graph),
                shape.dimension(),
                rows);
        this.rows = rows;
        this.choice = selected.choice();
        this.regions = regions;
        this.memory = TableMemory.keepAtHome(
                orchestrator,
                registration(),
                // The rows of a region are scattered over the image: with several regions no memory belongs to one
                // home.
                index -> regions.regions() > 1
                        ? Stream.empty()
                        : Stream.of(rows.graph().image().memory()),
                mover);
    }

    private static GraphLayout.Choice requestedChoice(Graph graph) {
        return new GraphLayout.Choice(layout(graph), "it was requested");
    }

    private static LayoutSelection.Selected saved(GraphImage image) {
        Graph graph = new Graph(image);
        return new LayoutSelection.Selected(graph, new GraphLayout.Choice(layout(graph), "it was saved so"));
    }

    private static RegionRouter regions(Orchestrator orchestrator, String name, Graph graph) {
        Topology topology = orchestrator.topology();
        long cacheBytes = topology.domains().stream()
                .mapToLong(CacheDomain::cacheBytes)
                .min()
                .orElse(0);
        int count = RegionRouter.regionsFor(
                graph.image().bytes(), cacheBytes, topology.domains().size());
        return count == 1 ? RegionRouter.ONE : regions(new BuildWork(orchestrator, name + " (regions)"), graph, count);
    }

    /** Finds the regions from a random sample of the rows. */
    static RegionRouter regions(BuildWork work, Graph graph, int count) {
        float[][] sample = new Random(REGIONS_SEED)
                .ints(0, graph.rows())
                .distinct()
                .limit(Math.min(graph.rows(), (long) count * ROWS_PER_REGION))
                .mapToObj(graph::vector)
                .toArray(float[][]::new);
        RegionRouter regions = RegionRouter.of(work, sample, count);
        return graph.image().shape().metric() == Metric.SQUARED_L2 ? regions : regions.byDirection();
    }

    @Override
    public MappingId mappingId(float[] query) {
        return regions.regions() == 1 ? mappingId() : registration().id(regions.region(query));
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The access trace of a search, for studies of locality: the nodes of layer 0 that it computes distances to, in that order.
     * Nodes are numbered from 0 in their order in memory. Runs in the calling thread, many times slower than a search.
     *
     * @param query finite, of the table's dimension
     * @param k number of neighbors, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @return node numbers
     */
    int[] visits(float[] query, int k, int ef) {
        Graph.requireWidth(k, ef);
        requireQuery("query", query);
        try (var _ = use()) {
            return rows.graph().searcher().visits(query, k, ef);
        }
    }

    /** The first call sorts the ids into an index on the Java heap, 12 bytes per row, which the table keeps. */
    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            Graph read = rows.graph();
            int row = read.row(id);
            return row < 0 ? null : read.vector(row);
        }
    }

    @Override
    public int size() {
        return rows.rows();
    }

    /** {@return the form of the vectors that searches of this table read} */
    public GraphLayout layout() {
        return layout(rows.graph());
    }

    /** {@return the table's layout and the reason for it: set in the builder, chosen by the builder, or read from a file} */
    public GraphLayout.Choice layoutChoice() {
        return choice;
    }

    /** The type of the rows in force: a {@link #swap} may change it. */
    @Override
    public ElementType elementType() {
        return elementType(rows.graph());
    }

    private static ElementType elementType(Graph graph) {
        return graph.image().shape().coded() ? ElementType.INT8 : ElementType.FLOAT32;
    }

    private static GraphLayout layout(Graph graph) {
        return graph.image().shape().coded() ? GraphLayout.INT8 : GraphLayout.FLOAT32;
    }

    @Override
    public TableStats stats() {
        Graph now = rows.graph();
        GraphImage image = now.image();
        long bytes = registration().isOpen() ? image.bytes() : 0;
        return new TableStats(
                name(), "hnsw", image.shape().rows(), dimension(), metric(), elementType(now), 1, bytes, recall());
    }

    /**
     * Saves the table to a file, replacing any file of that name. The file is written under a temporary name in the same directory,
     * synced and renamed: if the process dies at any point, either the old or the new file is there, complete.
     *
     * @param file the file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            ImageFile.save(rows.graph().image(), file);
        }
    }

    /**
     * Opens a saved table. The file is read once to verify its checksums, then mapped into memory. It must not be modified while the
     * table is open, but may be replaced by {@link #save} or deleted.
     *
     * @param orchestrator places the table
     * @param name the table's name in reports
     * @param file a file written by {@link #save}
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or is not a complete table; the message names the fault and its offset
     */
    public static HnswTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        Objects.requireNonNull(name, "name must not be null");
        return new HnswTable(orchestrator, name, saved(ImageFile.open(file)), DomainMemory::migrate);
    }

    /**
     * Loads a saved table into private memory, as a build leaves it: on huge pages where the kernel has any, which makes searches of
     * tables larger than the cache faster, and migrated to the table's home. Takes longer than {@link #open}, and shares no memory
     * with other processes. The file may be modified afterwards.
     *
     * @param orchestrator places the table
     * @param name the table's name in reports
     * @param file a file written by {@link #save}
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or is not a complete table; the message names the fault and its offset
     * @throws OutOfMemoryError if there is no memory for the copy
     */
    public static HnswTable load(Orchestrator orchestrator, String name, Path file) throws IOException {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        Objects.requireNonNull(name, "name must not be null");
        return new HnswTable(orchestrator, name, saved(ImageFile.load(file)), DomainMemory::migrate);
    }

    /**
     * Replaces this table's rows with the rows of another table, and closes the other table. Searches of this table that begin
     * afterwards, including those already queued, search the new rows. No search fails, and none sees rows of both tables. The
     * garbage collector frees the old rows once no search reads them.
     *
     * @param next another table, of the same dimension and metric
     * @throws IllegalArgumentException if it is this table, or of another dimension or metric
     * @throws io.github.roost.core.TableClosedException if one of the tables is closed
     * @throws io.github.roost.vector.TableFullException if the new rows exceed this table's memory limit
     */
    public void swap(HnswTable next) {
        Objects.requireNonNull(next, "next must not be null");
        if (next == this) {
            throw new IllegalArgumentException("the rows of table " + name() + " must be replaced by another table's");
        }
        if (next.dimension() != dimension() || next.metric() != metric()) {
            throw new IllegalArgumentException("the rows of table " + name() + " must be replaced by rows with "
                    + dimension() + " dimensions and metric " + metric() + ", got " + next.dimension()
                    + " dimensions and metric " + next.metric());
        }
        try (var _ = use()) {
            Graph taken = next.rows.graph();
            limit().admit(name(), taken.image()::bytes);
            // Its memory is this table's now.
            if (!orchestrator().indexing().closeTable(next.registration(), () -> {})) {
                throw new TableClosedException(next.name());
            }
            rows.replace(taken);
            choice = next.choice;
            forgetMeasurements();
            memory.allIsNew();
        }
    }

    @Override
    protected void free() {
        DomainMemory.release(rows.graph().image().memory());
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder extends GraphTableBuilder<Builder> {
        /** Null if the builder chooses. */
        private @Nullable GraphLayout layout;

        private double targetRecall = .95;

        private Builder() {
            super("hnsw");
        }

        /**
         * Sets the form of the vectors that searches read; {@link #elementType} sets the same option.
         *
         * @param value with {@link GraphLayout#INT8}, the builder still takes {@link GraphLayout#FLOAT32} if the codes of a sample find
         *     less than 95 % of its neighbors, and logs so. If not set, the builder chooses: {@link GraphLayout#FLOAT32} if vectors have fewer than 64 components, take
         *     less than 8 MiB in all, or if codes would exceed the memory limit ({@code memoryLimit}); otherwise {@link
         *     GraphLayout#INT8} if a sample of searches at the {@linkplain #targetRecall target recall} shows that it saves at least a
         *     tenth of their time. While the sample is searched, both graphs are in memory. {@link HnswTable#layoutChoice} reports the
         *     choice
         * @return this builder
         */
        public Builder layout(GraphLayout value) {
            Objects.requireNonNull(value, "layout must not be null");
            elementType(value == GraphLayout.INT8 ? ElementType.INT8 : ElementType.FLOAT32);
            layout = value;
            return this;
        }

        @Override
        public Builder elementType(ElementType value) {
            super.elementType(value);
            layout = value == ElementType.INT8 ? GraphLayout.INT8 : GraphLayout.FLOAT32;
            return this;
        }

        /**
         * Sets the recall@10 at which layouts are compared if {@link #layout} is not set.
         *
         * @param value above 0, at most 1; default .95
         * @return this builder
         * @throws IllegalArgumentException if the value is out of range
         */
        public Builder targetRecall(double value) {
            targetRecall = Vectors.requireRecall(value);
            return this;
        }

        /**
         * Builds a table as {@link #build(Orchestrator, long[], float[][])} does, with the row numbers, from 0, as ids.
         *
         * @param orchestrator builds and places the table
         * @param vectors at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         */
        public HnswTable build(Orchestrator orchestrator, float[][] vectors) {
            Objects.requireNonNull(vectors, "vectors must not be null");
            return build(orchestrator, LongStream.range(0, vectors.length).toArray(), vectors);
        }

        /**
         * Builds a table as batch work on the orchestrator's workers, yielding to searches. Blocks, and ignores interrupts: for a build
         * that can be ended early, use {@link #start} and {@link TableBuild#cancel()}.
         *
         * @param orchestrator builds and places the table
         * @param ids one external id per row, all different
         * @param vectors at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         * @throws IllegalArgumentException if a row or id is invalid
         */
        public HnswTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
            Vectors.requireTable(vectors, options().metric());
            Vectors.requireIds(ids, vectors.length);
            requireRoom(vectors.length, vectors[0].length);
            BuildWork work = work(orchestrator);
            return limited(
                    new HnswTable(
                            orchestrator,
                            name(),
                            built(
                                    work,
                                    name(),
                                    options(),
                                    ids,
                                    VectorSource.of(vectors),
                                    layout,
                                    targetRecall,
                                    memoryLimit()),
                            mover()),
                    memoryLimit());
        }

        /**
         * Starts to build a table from any source of rows, as batch work on the orchestrator's workers, yielding to searches. The
         * rows are read once, into memory outside the Java heap. The builder may be reused at once.
         *
         * @param orchestrator builds and places the table
         * @param ids one external id per row, all different; must not change during the build
         * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
         * @return the running build; its result is to be closed
         * @throws IllegalArgumentException if the ids or the dimension are invalid
         * @throws io.github.roost.vector.TableFullException if the rows exceed the memory limit
         */
        public TableBuild<HnswTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            BuildWork.requireRows(ids, rows);
            requireRoom(rows.size(), rows.dimension());
            long max = memoryLimit();
            GraphOptions graph = options();
            String tableName = name();
            TableMemory.Mover tableMover = mover();
            GraphLayout wanted = layout;
            double recall = targetRecall;
            return work(orchestrator)
                    .start(work -> limited(
                            new HnswTable(
                                    orchestrator,
                                    tableName,
                                    built(work, tableName, graph, ids, rows, wanted, recall, max),
                                    tableMover),
                            max));
        }

        private static LayoutSelection.Selected built(
                BuildWork work,
                String name,
                GraphOptions options,
                long[] ids,
                VectorSource rows,
                @Nullable GraphLayout layout,
                double recall,
                long memoryLimit) {
            return layout == null
                    ? LayoutSelection.of(work, name, new GraphBuild(work, options).run(ids, rows), recall, memoryLimit)
                    : LayoutSelection.requested(work, name, options, ids, rows);
        }
    }
}
