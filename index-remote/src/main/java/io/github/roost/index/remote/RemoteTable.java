package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.BatchQueue;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Step;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.RecallSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A vector table whose partitions are in remote memory. A query visits the few partitions whose centroids are nearest. A partition is fetched
 * once for all queries that wait for it, into a cache bounded in bytes (after Liu, Fang and Qian, "Efficient Vector Search on Disaggregated
 * Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * RemoteTable table = RemoteTable.builder()
 *         .cacheBytes(256L << 20)
 *         .openReadOnly(orchestrator, "products", new MappedMemory(Path.of("/dev/shm")), "products.pool");
 * List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
 * }</pre>
 *
 * <p>Each partition is a mapping id: its home is where its queries are grouped and its bytes verified and searched. A query joins the batch queue
 * of each partition that it visits. A group of queries parks until the bytes have arrived; meanwhile its worker serves partitions that are
 * cached. {@link #searchAll} has all its queries join before one is served, so each partition is read at most once for all of them, whatever the
 * size of the cache; more often only if other searches have kept a partition waiting for room for a second.
 *
 * <p>The effort of a search is the number of partitions that it visits. If a partition cannot be read, the search fails with a
 * {@link RemoteMemoryException}: a {@link MemoryNodeLostException} if the memory node is lost, a {@link DamagedPartitionException} if bytes are
 * wrong. With {@link Builder#partialAnswers} it answers from the readable partitions and from the cache instead.
 *
 * <p>A table that {@link Builder#open} opened can be changed, see {@link MutableRemoteTable}. A search sees every change that
 * any process made before the search began. A row that moves between partitions during a search is found too: the record that removes it names
 * its new partition, and the search visits that partition again. After eight such rounds the result is marked as cut short. Closing waits for
 * a transfer in progress, but not longer than {@link Builder#transferTimeout}. Thread-safe.
 */
public sealed class RemoteTable extends AbstractVectorTable permits MutableRemoteTable {
    /** Multiplier of ef for the ground-truth searches of effort measurements. */
    private static final int EXACT_WIDTHS = 8;
    /**
     * One query while workers are free; otherwise up to 64, since one scan serves them all and the first query waits for bytes anyway, and up to
     * 256 if they take at most 4 ms.
     */
    private static final GroupRule GROUPS = new GroupRule(1, 64, GroupScan.MAX_QUERIES, 4_000_000);
    /**
     * Maximum rounds of repeated visits to partitions that received rows during the search; more than one is needed only while rows keep moving.
     */
    private static final int TIMES_AGAIN = 8;

    private static final int MAX_TIMES_LOOKED = 1_000;
    private final OpenPool pool;
    private final ReaderHold hold;
    private final PartitionCache cache;
    private final PartitionSearch[] searches;
    private final List<BatchQueue<Asked, PartitionResult>> queues;
    private final int ef;
    private final LongAdder damaged = new LongAdder();
    private final LongAdder partial = new LongAdder();
    /** Fetches partitions; frees pool and cache when it ends. */
    private final Thread loader;

    RemoteTable(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options) {
        PoolHead head = pool.head();
        super(
                orchestrator,
                orchestrator.register(name, head.partitions()),
                head.metric(),
                ElementType.FLOAT32,
                head.dimension());
        this.pool = pool;
        this.hold = hold;
        this.ef = options.ef;
        this.cache = new PartitionCache(
                pool, options.cacheBytes, () -> orchestrator.indexing().trafficBytes(registration()));
        this.searches = new PartitionSearch[head.partitions()];
        this.queues = new ArrayList<>(searches.length);
        for (int partition = 0; partition < searches.length; partition++) {
            searches[partition] = new PartitionSearch(pool, cache, partition, options.partialAnswers, damaged);
            queues.add(orchestrator.indexing().batchQueue(registration().id(partition), searches[partition], GROUPS));
        }
        this.loader = new Thread(
                new PartitionLoader(cache, pool, hold, options.readsPerDoorbell, options.transferTimeout.toNanos()),
                "roost-loader-" + name);
        loader.setDaemon(true);
        loader.start();
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    protected int defaultEffort(int k) {
        return pool.head().visited();
    }

    @Override
    public int minEffort(int k) {
        return 1;
    }

    @Override
    public int maxEffort() {
        return searches.length;
    }

    @Override
    protected String effortName() {
        return "visited partitions";
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        return submit(asked(request));
    }

    private CompletableFuture<SearchResult> submit(Asked asked) {
        CompletableFuture<SearchResult> answer;
        try {
            answer = orchestrator()
                    .indexing()
                    .submitFork(fork(asked), asked, asked.request().options());
        } catch (Throwable refused) {
            asked.over(cache);
            throw refused;
        }
        var _ = answer.whenComplete((found, failure) -> asked.over(cache));
        return answer;
    }

    private Asked asked(SearchRequest request) {
        return new Asked(request, ef, effort(request));
    }

    /** The parts take the query from {@code asked}, so the fork's own query type is free. */
    private <Q> Step.Fork<Q, Asked, PartitionResult, SearchResult> fork(Asked asked) {
        int[] partitions = pool.nearest(asked.request().query(), asked.visited());
        asked.needs(partitions, cache);
        return visit(asked, partitions, new Visits(partitions), TIMES_AGAIN);
    }

    private <Q> Step.Fork<Q, Asked, PartitionResult, SearchResult> visit(
            Asked asked, int[] partitions, Visits visits, int timesAgain) {
        List<BatchQueue<Asked, PartitionResult>> joined = new ArrayList<>(partitions.length);
        for (int partition : partitions) {
            joined.add(queues.get(partition));
        }
        return new Step.Fork<>(List.of(), joined, asked, (same, found, context) -> {
            for (int i = 0; i < partitions.length; i++) {
                visits.put(partitions[i], found.get(i));
            }
            int[] again = visits.tooEarly();
            return again.length > 0 && timesAgain > 0
                    ? visit(asked, again, visits, timesAgain - 1)
                    : Step.done(merge(asked, visits, again.length > 0));
        });
    }

    private SearchResult merge(Asked asked, Visits visits, boolean mayLackRows) {
        SearchResult result = NearestOf.of(
                visits.found(), asked.request().k(), asked.request().radius(), asked.cutShort() || mayLackRows);
        if (result.cost().missingPartitions() > 0) {
            partial.increment();
        }
        return result;
    }

    /**
     * Searches for a batch of queries. All of them join their partitions before the first partition is read, so each partition is read at most
     * once. Queries with equal options (priority and timeout) form one batch; each query with a target recall runs on its own.
     */
    @Override
    protected List<CompletableFuture<SearchResult>> submitAll(List<SearchRequest> all) {
        List<@Nullable CompletableFuture<SearchResult>> answers = new ArrayList<>();
        all.forEach(request -> answers.add(null));
        for (int first = 0; first < all.size(); first++) {
            if (answers.get(first) != null) {
                continue;
            }
            SearchRequest request = all.get(first);
            if (Double.isNaN(request.targetRecall())) {
                searchTogether(all, answers, request.options());
            } else {
                answers.set(first, submitOrFail(request));
            }
        }
        return answers.stream().map(Objects::requireNonNull).toList();
    }

    private void searchTogether(
            List<SearchRequest> all, List<@Nullable CompletableFuture<SearchResult>> answers, SubmitOptions options) {
        int[] together = IntStream.range(0, all.size())
                .filter(i -> all.get(i).options().equals(options)
                        && Double.isNaN(all.get(i).targetRecall()))
                .toArray();
        List<Asked> asked = new ArrayList<>();
        List<CompletableFuture<SearchResult>> begun;
        try {
            List<Step.Fork<Object, Asked, PartitionResult, SearchResult>> forks = new ArrayList<>();
            for (int i : together) {
                Asked one = asked(all.get(i));
                asked.add(one);
                forks.add(fork(one));
            }
            begun = orchestrator().indexing().submitTogether(forks, name(), options);
        } catch (RuntimeException | Error refused) {
            asked.forEach(one -> one.over(cache));
            if (answers.stream().allMatch(Objects::isNull)) {
                throw refused;
            }
            // Other searches have begun: the caller must get their futures.
            for (int i : together) {
                answers.set(i, CompletableFuture.failedFuture(refused));
            }
            return;
        }
        for (int i = 0; i < together.length; i++) {
            Asked one = asked.get(i);
            answers.set(together[i], begun.get(i));
            var _ = begun.get(i).whenComplete((found, failure) -> one.over(cache));
        }
    }

    /** {@inheritDoc} The ground truth comes from searches of all partitions with a larger ef. */
    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        int wide = Math.min(Vectors.MAX_EF, EXACT_WIDTHS * Math.max(ef, k));
        return new RecallSample(sample, query -> inBatch(query, k, searches.length, wide))
                .minEffort(1, searches.length, recall, visited -> query -> inBatch(query, k, visited, ef));
    }

    private CompletableFuture<SearchResult> inBatch(float[] query, int k, int visited, int width) {
        SearchRequest request = SearchRequest.of(query, k).effort(visited).options(SubmitOptions.BATCH);
        return submit(new Asked(request, width, visited)).thenApply(this::whole);
    }

    /** A measurement with partitions missing would give a wrong effort. */
    private SearchResult whole(SearchResult result) {
        if (result.cost().missingPartitions() > 0) {
            throw new CompletionException(new RemoteMemoryException(
                    pool.region().name(),
                    "could not be read in " + result.cost().missingPartitions() + " of "
                            + result.cost().partitions() + " partitions"));
        }
        return result;
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        return pool.sample();
    }

    /** {@inheritDoc} Fetches each partition that is not in the cache. Blocks: do not call it on a worker. */
    @Override
    public void verify() throws IOException {
        try (var _ = use()) {
            for (PartitionSearch search : searches) {
                search.verify();
            }
        }
    }

    /** {@inheritDoc} Fetches the partitions one after another until it finds the row. Blocks: do not call it on a worker. */
    @Override
    public float @Nullable [] vector(long id) {
        int[] left = IntStream.range(0, searches.length).toArray();
        Visits visits = new Visits(left);
        try (var _ = use()) {
            for (int times = 0; left.length > 0; times++) {
                if (times > MAX_TIMES_LOOKED) {
                    throw new RemoteMemoryException(
                            pool.region().name(), "has rows that move faster than one can be looked for");
                }
                for (int partition : left) {
                    PartitionSearch.Row row = searches[partition].row(id);
                    if (row.vector() != null) {
                        return row.vector();
                    }
                    visits.put(partition, new PartitionResult(null, row.seen()));
                }
                left = visits.tooEarly();
            }
            return null;
        } catch (RemoteMemoryException lost) {
            throw new UncheckedIOException(lost);
        }
    }

    /**
     * {@inheritDoc} Copies the state of the pool at one moment into a file that can be served and opened. This and other tables may change the
     * pool meanwhile.
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            WholeFile.replace(file, new PoolCopy(pool, writer(), hold)::write);
        }
    }

    @Override
    public int size() {
        return pool.rows();
    }

    /** {@return the table's current state; its bytes are the size of this process's cache, as in {@link #remoteStats}, not of the pool} */
    @Override
    public TableStats stats() {
        return new TableStats(
                name(),
                "remote",
                size(),
                dimension(),
                metric(),
                elementType(),
                searches.length,
                cache.counts().held());
    }

    /** {@return counts of fetches, cache hits and failures since the table was opened} */
    public RemoteStats remoteStats() {
        PartitionCache.Counts counts = cache.counts();
        return new RemoteStats(
                counts.reads(),
                counts.bytesRead(),
                counts.doorbells(),
                counts.hits(),
                counts.evictions(),
                counts.held(),
                damaged.sum(),
                partial.sum(),
                pool.directory().epoch());
    }

    /** {@return the default number of partitions per search} */
    public int visitedByDefault() {
        return pool.head().visited();
    }

    /**
     * Finds the partitions that a search visits.
     *
     * @param query of the table's dimension, finite
     * @param visited number of partitions, from 1 to the number of partitions of the table
     * @return their numbers, nearest centroid first
     */
    public int[] partitionsOf(float[] query, int visited) {
        requireQuery("query", query);
        Vectors.requireRange(effortName(), visited, 1, maxEffort());
        return pool.nearest(query, visited);
    }

    /** The writer of the region; null if the table was opened read-only. */
    @Nullable
    PoolWriter writer() {
        return null;
    }

    OpenPool pool() {
        return pool;
    }

    @Override
    protected void free() {
        cache.close(new RemoteMemoryException(pool.region().name(), "is closed"));
        boolean interrupted = false;
        while (loader.isAlive()) {
            try {
                loader.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final long DEFAULT_CACHE = 1L << 30;

        private long cacheBytes = DEFAULT_CACHE;
        private int readsPerDoorbell = 16;
        private int ef = 64;
        Duration transferTimeout = Duration.ofSeconds(5);
        private boolean partialAnswers;
        boolean rebuildsFullLogs = true;

        private Builder() {}

        /**
         * Sets the size of the partition cache.
         *
         * @param value in bytes, at least the largest partition with its gap, which {@link #open} checks; default 1 GiB
         * @return this builder
         */
        public Builder cacheBytes(long value) {
            Vectors.requireRange("cache bytes", value, 1, Long.MAX_VALUE);
            this.cacheBytes = value;
            return this;
        }

        /**
         * Sets the maximum number of partitions per doorbell, that is, per request to the network card.
         *
         * @param value from 1 to 256; default 16
         * @return this builder
         */
        public Builder readsPerDoorbell(int value) {
            Vectors.requireRange("reads per doorbell", value, 1, 256);
            this.readsPerDoorbell = value;
            return this;
        }

        /**
         * Sets the ef of the graph search in each partition. If k is larger, k is used.
         *
         * @param value from 1 to 100,000; default 64
         * @return this builder
         */
        public Builder ef(int value) {
            Vectors.requireRange("ef", value, 1, Vectors.MAX_EF);
            this.ef = value;
            return this;
        }

        /**
         * Sets the timeout of transfers. The deadline of a search applies independently.
         *
         * @param value over zero; default 5 seconds
         * @return this builder
         */
        public Builder transferTimeout(Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("the transfer timeout must be over zero, got " + value);
            }
            this.transferTimeout = value;
            return this;
        }

        /**
         * Sets whether a search that cannot read a partition answers from the other partitions, and from the cached bytes of the missing one,
         * which may be out of date. Such an answer is marked as {@linkplain SearchResult#cutShort cut short} and has the number of missing
         * partitions in its {@linkplain SearchCost#missingPartitions cost}.
         *
         * @param value default false: the search fails
         * @return this builder
         */
        public Builder partialAnswers(boolean value) {
            this.partialAnswers = value;
            return this;
        }

        /**
         * Sets whether this table rebuilds a pair in the background once a change finds three quarters of its gap used. A change that finds the
         * gap full waits for the rebuild.
         *
         * @param value default true; if false, the caller must call {@link MutableRemoteTable#rebuild}, and a full gap refuses changes
         * @return this builder
         */
        public Builder rebuildsFullLogs(boolean value) {
            this.rebuildsFullLogs = value;
            return this;
        }

        /**
         * Opens a pool for searches. Its head, centroids and directory are read and checked now; partitions are checked when they are read.
         *
         * @param orchestrator runs the table's searches
         * @param name name of the table in reports
         * @param memory provider of the region; must be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or holds no complete pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition with its gap
         */
        public RemoteTable openReadOnly(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
                throws IOException {
            return open(orchestrator, name, memory, region, RemoteTable::new);
        }

        /**
         * Opens a pool for searches and changes, otherwise as {@link #openReadOnly}.
         *
         * @param orchestrator runs the table's searches
         * @param name name of the table in reports
         * @param memory provider of the region; must be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or written or holds no complete pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition with its gap
         */
        public MutableRemoteTable open(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
                throws IOException {
            return open(orchestrator, name, memory, region, (places, same, pool, hold, options) -> {
                if (!pool.region().isWritable()) {
                    throw new RemoteMemoryException(region, "cannot be written by this process: open it read-only");
                }
                return new MutableRemoteTable(places, same, pool, hold, options);
            });
        }

        /** Makes a table of an open pool. */
        @FunctionalInterface
        private interface Opening<T extends RemoteTable> {
            T of(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options)
                    throws IOException;
        }

        private <T extends RemoteTable> T open(
                Orchestrator orchestrator, String name, RemoteMemory memory, String region, Opening<T> opening)
                throws IOException {
            OpenPool pool = OpenPool.open(memory.open(region), transferTimeout);
            boolean opened = false;
            ReaderHold hold = null;
            try {
                hold = ReaderHold.of(pool, name);
                Directory directory = pool.directory();
                for (int i = 0; i < directory.partitions().size(); i++) {
                    long needed = directory.partitions().get(i).bytes()
                            + directory.gapOf(i).bytes();
                    if (needed > cacheBytes) {
                        throw new IllegalArgumentException("the cache must have at least " + needed
                                + " bytes, the size of partition " + i + " with its log, got " + cacheBytes);
                    }
                }
                T table = opening.of(orchestrator, name, pool, hold, this);
                opened = true;
                return table;
            } finally {
                if (!opened) {
                    if (hold != null) {
                        hold.close();
                    }
                    pool.close();
                }
            }
        }
    }
}
