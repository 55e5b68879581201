package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableMemory;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.index.hnsw.IdFilter.AllowedRows;
import io.github.roost.index.hnsw.walk.ImageFile;
import io.github.roost.topology.DomainMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * One HNSW table (Malkov and Yashunin, IEEE TPAMI 42(4), 2020): a graph that jvector builds, frozen into off-heap
 * memory, and placed by an orchestrator as one mapping id. One query is one task:
 *
 * <pre>{@code
 * HnswTable table = HnswTable.builder().name("products").build(orchestrator, vectors);
 * CompletableFuture<Neighbors> answer =
 *         orchestrator.submit(table.searchFunction(10, 64), query, table.mappingId());
 * }</pre>
 *
 * <p>A search walks the graph in C (in Java where no native library can be loaded), with marks and heaps of its own, so
 * searches share nothing that is written. Every 50 us at most it looks whether its result is still wanted, and ends with a
 * {@link DeadlineExceededException} where it is not. Nothing of the table is on the Java heap; its memory is freed when the
 * table is closed and no longer referred to. On a machine of several NUMA nodes it follows the table's home, unless it is
 * mapped from a file ({@link TableMemory}). Thread-safe.
 */
public final class HnswTable implements AutoCloseable {
    private final Registration registration;
    private final Orchestrator orchestrator;
    private final Metric metric;
    private final int dimension;
    /** Read once by each search, which so sees one graph from beginning to end. */
    private volatile FrozenGraph graph;

    private final TableMemory memory;

    HnswTable(Orchestrator orchestrator, String name, FrozenGraph graph, TableMemory.Mover mover) {
        this.orchestrator = orchestrator;
        this.registration = orchestrator.register(name);
        this.metric = graph.image().shape().metric();
        this.dimension = graph.image().shape().dimension();
        this.graph = graph;
        this.memory = TableMemory.keepAtHome(
                orchestrator,
                registration,
                cluster -> Stream.of(this.graph.image().memory()),
                mover);
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A search to submit under {@link #mappingId()}.
     *
     * @param k neighbours wanted, from 1 to 10,000; a table with fewer vectors gives all it has
     * @param ef width of the search, from k to 100,000: larger finds more of the true neighbours and takes longer
     * @return what to submit; it fails with an {@link IllegalArgumentException} where the query is not finite or of
     *     another dimension, and with a {@link DeadlineExceededException} where it finds its deadline passed
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int ef) {
        return searchFunction(k, ef, IdFilter.ALL);
    }

    /**
     * A search that finds only what a filter allows; as {@link #searchFunction(int, int)}. The walk goes through all
     * nodes and keeps the allowed ones; where so few are allowed that it would take longer than looking at every one of
     * them, that is done instead, and the result is exact.
     *
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param filter what may be found
     * @return what to submit
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int ef, IdFilter filter) {
        requireWidth(k, ef);
        return (query, context) -> search(query, k, ef, filter, context);
    }

    static void requireWidth(int k, int ef) {
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("ef", ef, k, 100_000);
    }

    /**
     * Submits one search; as {@link #searchFunction(int, int)}.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @return completes with at most k neighbours, nearest first
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int ef) {
        return search(query, k, ef, IdFilter.ALL, SubmitOptions.DEFAULT);
    }

    /**
     * Submits one search with a deadline or priority; as {@link #searchFunction(int, int)}.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param options how to treat it
     * @return completes with at most k neighbours, nearest first; with a {@link DeadlineExceededException} where the
     *     deadline passes before it is through
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int ef, SubmitOptions options) {
        return search(query, k, ef, IdFilter.ALL, options);
    }

    /**
     * Submits one filtered search; as {@link #searchFunction(int, int, IdFilter)}.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param filter what may be found
     * @return completes with at most k neighbours, nearest first
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int ef, IdFilter filter) {
        return search(query, k, ef, filter, SubmitOptions.DEFAULT);
    }

    /**
     * Submits one filtered search with a deadline or priority; as {@link #searchFunction(int, int, IdFilter)}.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param filter what may be found
     * @param options how to treat it
     * @return completes with at most k neighbours, nearest first; with a {@link DeadlineExceededException} where the
     *     deadline passes before it is through
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int ef, IdFilter filter, SubmitOptions options) {
        Vectors.require("query", query, dimension, metric);
        return orchestrator.submit(searchFunction(k, ef, filter), query, mappingId(), options);
    }

    private Neighbors search(float[] query, int k, int ef, IdFilter filter, SearchContext context) {
        Vectors.require("query", query, dimension, metric);
        FrozenGraph searched = graph;
        AllowedRows wanted = filter.rowsOf(searched.image(), () -> FrozenGraph.requireWanted(context));
        return searched.search(query, k, ef, AllowedRows.ALL, wanted, context);
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
        Vectors.require("query", query, dimension, metric);
        return graph.visits(query, k, ef);
    }

    /**
     * The narrowest width (ef) whose searches find on average this share of the true k nearest, measured with sample
     * queries on the workers, as batch work; within a twentieth.
     *
     * @param recall over 0, at most 1
     * @param k neighbours wanted, from 1 to 10,000
     * @param sample queries like those to come, at least one; some hundred make it certain to about a hundredth
     * @return from k to 100,000, which is given where no width reaches the recall
     */
    public int targetRecall(double recall, int k, float[][] sample) {
        if (!(recall > 0 && recall <= 1)) {
            throw new IllegalArgumentException("recall must be over 0 and at most 1, got " + recall);
        }
        requireWidth(k, k);
        if (sample.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int query = 0; query < sample.length; query++) {
            Vectors.require("query " + query, sample[query], dimension, metric);
        }
        return Math.max(k, new RecallSample(orchestrator, name(), graph, sample, k).narrowest(recall));
    }

    /** {@return the table's name} */
    public String name() {
        return registration.name();
    }

    /** {@return where searches of this table belong} */
    public MappingId mappingId() {
        return registration.id();
    }

    /** {@return the number of vectors} */
    public int size() {
        return graph.rows();
    }

    /** {@return the bytes of memory that the table takes, all of it outside the Java heap} */
    public long bytes() {
        return graph.image().bytes();
    }

    /** {@return the dimension of the vectors} */
    public int dimension() {
        return dimension;
    }

    /** {@return how distances are measured} */
    public Metric metric() {
        return metric;
    }

    /** {@return what walks read of each component} */
    public ElementType elementType() {
        return graph.image().shape().coded() ? ElementType.INT8 : ElementType.FLOAT32;
    }

    /**
     * Saves the table as a file, replacing one of that name. Written beside it under a temporary name, synced and moved
     * into place: a process that dies at any point leaves the old file or the new one, whole.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    public void save(Path file) throws IOException {
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
        if (next.dimension != dimension || next.metric != metric) {
            throw new IllegalArgumentException("the rows of table " + name() + " must be replaced by such of "
                    + dimension + " dimensions under " + metric + ", got " + next.dimension + " under " + next.metric);
        }
        graph = next.graph;
        next.close();
        memory.allIsNew();
    }

    /** Unregisters the table; searches already accepted still run. */
    @Override
    public void close() {
        registration.close();
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
            FrozenGraph graph = FrozenGraph.build(orchestrator, name(), options(), ids, rows);
            return new HnswTable(orchestrator, name(), graph, mover());
        }
    }
}
