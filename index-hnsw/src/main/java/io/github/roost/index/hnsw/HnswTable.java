package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableMemory;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.TableStats;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.ImageFile;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.DomainMemory;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One HNSW table (Malkov and Yashunin, IEEE TPAMI 42(4), 2020): a graph that is built in C or by jvector, frozen into off-heap
 * memory, and placed by an orchestrator as one mapping id. One query is one task:
 *
 * <pre>{@code
 * HnswTable table = HnswTable.builder().name("products").build(orchestrator, vectors);
 * CompletableFuture<Neighbors> answer =
 *         orchestrator.submit(table.searchFunction(10, 64), query, table.mappingId());
 * }</pre>
 *
 * <p>A search walks the graph in C (in Java where no native library can be loaded), with marks and heaps of its own, so
 * searches share nothing that is written. The rows are fixed: {@link LiveTable} takes changes. A search whose request gives no
 * effort has an ef of 100, or 2 k where that is more. On a machine of several NUMA nodes the table's memory follows its home,
 * unless it is mapped from a file ({@link TableMemory}). Thread-safe.
 */
public final class HnswTable extends GraphTable {
    /** Of the sample by which regions are found. */
    private static final int ROWS_PER_REGION = 64;

    private static final long REGIONS_SEED = 25;

    /** Read once by each search, which so sees one graph from beginning to end. */
    private volatile FrozenGraph graph;

    private final TableMemory memory;
    private final RegionRouter regions;

    HnswTable(Orchestrator orchestrator, String name, FrozenGraph graph, TableMemory.Mover mover) {
        this(orchestrator, name, graph, mover, regions(orchestrator.topology(), graph));
    }

    HnswTable(
            Orchestrator orchestrator, String name, FrozenGraph graph, TableMemory.Mover mover, RegionRouter regions) {
        GraphImage.Shape shape = graph.image().shape();
        super(
                orchestrator,
                orchestrator.register(name, regions.regions()),
                shape.metric(),
                shape.coded() ? ElementType.INT8 : ElementType.FLOAT32,
                shape.dimension());
        this.graph = graph;
        this.regions = regions;
        this.memory = TableMemory.keepAtHome(
                orchestrator,
                registration(),
                // Rows of a region do not lie together: the memory of several is nobody's.
                cluster -> regions.regions() > 1
                        ? Stream.empty()
                        : Stream.of(this.graph.image().memory()),
                mover);
    }

    private static RegionRouter regions(Topology topology, FrozenGraph graph) {
        long cacheBytes = topology.domains().stream()
                .mapToLong(CacheDomain::cacheBytes)
                .min()
                .orElse(0);
        int count = RegionRouter.regionsFor(
                graph.image().bytes(), cacheBytes, topology.domains().size());
        return count == 1 ? RegionRouter.ONE : regions(graph, count);
    }

    /** By a sample of the rows. */
    static RegionRouter regions(FrozenGraph graph, int count) {
        float[][] sample = new Random(REGIONS_SEED)
                .ints(0, graph.rows())
                .distinct()
                .limit(Math.min(graph.rows(), (long) count * ROWS_PER_REGION))
                .mapToObj(graph::vectorOfRow)
                .toArray(float[][]::new);
        return RegionRouter.of(sample, count);
    }

    @Override
    public MappingId mappingId(float[] query) {
        return regions.regions() == 1 ? mappingId() : registration().id(regions.region(query));
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    Neighbors find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit) {
        FrozenGraph searched = graph;
        return searched.search(query, k, ef, AllowedRows.ALL, searched.allowed(filter, visit), visit);
    }

    @Override
    Neighbors exact(float[] query, int k, GraphVisit visit) {
        FrozenGraph searched = graph;
        int nodes = searched.image().shape().nodes();
        return searched.scan(query, k, AllowedRows.ALL, AllowedRows.ALL, 0, nodes, visit);
    }

    @Override
    float[] vectorAt(int row) {
        FrozenGraph read = graph;
        // Rows that have been replaced meanwhile may be fewer.
        return read.vectorOfRow(Math.min(row, read.rows() - 1));
    }

    @Override
    int rows() {
        return graph.rows();
    }

    /**
     * What a search reads, for studies of locality: the nodes of layer 0 that it computes distances to, in that order.
     * Nodes are numbered as they lie in memory, from 0. Runs in the calling thread, many times slower than a search.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @return numbers of nodes
     */
    public int[] visits(float[] query, int k, int ef) {
        requireWidth(k, ef);
        requireQuery(query);
        return graph.visits(query, k, ef);
    }

    @Override
    public boolean isMutable() {
        return false;
    }

    @Override
    public boolean put(long id, float[] vector) {
        throw fixed();
    }

    @Override
    public boolean remove(long id) {
        throw fixed();
    }

    private UnsupportedOperationException fixed() {
        return new UnsupportedOperationException(
                "the rows of HNSW table " + name() + " are fixed: use a LiveTable for rows that change");
    }

    /** The first call sorts the ids, which takes 12 bytes per row of the Java heap from then on. */
    @Override
    public float @Nullable [] vector(long id) {
        requireOpen();
        FrozenGraph read = graph;
        int row = read.row(id);
        return row < 0 ? null : read.vectorOfRow(row);
    }

    @Override
    public int size() {
        return graph.rows();
    }

    @Override
    public TableStats stats() {
        GraphImage image = graph.image();
        return new TableStats(
                name(), "hnsw", image.shape().rows(), dimension(), metric(), elementType(), 1, image.bytes());
    }

    /**
     * Saves the table as a file, replacing one of that name. Written beside it under a temporary name, synced and moved
     * into place: a process that dies at any point leaves the old file or the new one, whole.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        requireOpen();
        ImageFile.save(graph.image(), file);
    }

    /**
     * Opens a saved table. The file is read once to check it, then mapped into memory; it must not be changed while the
     * table is open, but may be replaced by {@link #save} or deleted.
     *
     * @param orchestrator places the table
     * @param name under which the table shows in reports
     * @param file that {@link #save} has written
     * @return the table
     * @throws IOException if the file cannot be read or holds no whole table; the message says what is wrong where
     */
    public static HnswTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        return new HnswTable(orchestrator, name, new FrozenGraph(ImageFile.open(file)), DomainMemory::migrate);
    }

    /**
     * Takes over the rows of another table, which is closed: from then on searches of this table, also those already
     * submitted and not begun, search them. None fails, and none sees rows of both.
     *
     * @param next another table, of the same dimension and metric
     */
    public void swap(HnswTable next) {
        if (next == this) {
            throw new IllegalArgumentException("the rows of table " + name() + " must be replaced by another table's");
        }
        if (next.dimension() != dimension() || next.metric() != metric()) {
            throw new IllegalArgumentException("the rows of table " + name() + " must be replaced by such of "
                    + dimension() + " dimensions under " + metric() + ", got " + next.dimension() + " under "
                    + next.metric());
        }
        graph = next.graph;
        rowsReplaced();
        next.close();
        memory.allIsNew();
    }

    @Override
    public void close() {
        registration().close();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder extends GraphTableBuilder<Builder> {
        private Builder() {
            super("hnsw");
        }

        /**
         * As {@link #build(Orchestrator, long[], float[][])}, with the rows' ordinals as ids.
         *
         * @param orchestrator places the table, and builds it
         * @param rows at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         */
        public HnswTable build(Orchestrator orchestrator, float[][] rows) {
            return build(orchestrator, LongStream.range(0, rows.length).toArray(), rows);
        }

        /**
         * Builds a table on the orchestrator's workers, as batch work beside what they serve.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one external id a row, none twice
         * @param rows at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         * @throws IllegalArgumentException if a row or id is not as said
         */
        public HnswTable build(Orchestrator orchestrator, long[] ids, float[][] rows) {
            Vectors.requireTable(rows, options().metric());
            Vectors.requireIds(ids, rows.length);
            FrozenGraph graph = FrozenGraph.build(work(orchestrator), options(), ids, rows);
            return new HnswTable(orchestrator, name(), graph, mover());
        }

        /**
         * Begins to build a table of rows from wherever they are, on the orchestrator's workers, as batch work beside what they
         * serve. The rows are read once, into memory outside the Java heap. The builder may be used again at once.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one external id per row, none twice; must not change during the build
         * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
         * @return under way; its result is to be closed
         * @throws IllegalArgumentException if ids or dimension are not as said
         */
        public TableBuild<HnswTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            requireSource(ids, rows);
            GraphOptions graph = options();
            String tableName = name();
            TableMemory.Mover tableMover = mover();
            return TableBuild.start(
                    work(orchestrator),
                    work -> new HnswTable(
                            orchestrator,
                            tableName,
                            new FrozenGraph(new GraphBuild(work, graph).run(ids, rows)),
                            tableMover));
        }
    }
}
