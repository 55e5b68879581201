package io.github.roost.index.remote;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.WholeFile;
import io.github.roost.core.task.BatchQueue;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.RecallEfforts;
import io.github.roost.core.vector.RecallSample;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.TableStats;
import io.github.roost.core.vector.VectorTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A table whose partitions lie in remote memory: a query visits the few whose centroids are nearest, and what it needs of them is
 * fetched once for all queries that wait for it, into a cache that is bounded in bytes (after Liu, Fang and Qian, "Efficient Vector
 * Search on Disaggregated Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * RemoteTable table = RemoteTable.builder()
 *         .cacheBytes(256L << 20)
 *         .open(orchestrator, "products", new MappedMemory(Path.of("/dev/shm")), "products.pool");
 * List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
 * }</pre>
 *
 * <p>Each partition is a mapping id of its own: its queries meet, and its bytes are verified and searched, at its home. A query joins the
 * batch queue of each partition that it visits; a group of queries parks until the bytes are there, and its worker serves partitions
 * that are in the cache meanwhile. {@link #searchAll} has all its queries join before one is served, so that each partition is read at
 * most once for all of them, however small the cache is.
 *
 * <p>Effort is the number of partitions that a search visits. A search whose bytes cannot be had fails with a {@link
 * RemoteMemoryException}: where the memory node is lost with a {@link MemoryNodeLostException}, where bytes are wrong with a {@link
 * DamagedPartitionException}; {@link Builder#partialAnswers} has it answer by the partitions that it could search instead.
 *
 * <p>Rows are fixed. Thread-safe.
 */
public final class RemoteTable implements VectorTable {
    /** Of the searches that are the truth when efforts are measured: wider than any that is measured. */
    private static final int EXACT_WIDTHS = 8;
    /** Users of a table that is closed when there are none. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private static final int PIECE = 1 << 20;

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final OpenPool pool;
    private final PartitionCache cache;
    private final PartitionSearch[] searches;
    private final List<BatchQueue<Asked, Found>> queues;
    private final int ef;
    private final LongAdder damaged = new LongAdder();
    private final LongAdder partial = new LongAdder();
    private final RecallEfforts efforts = new RecallEfforts(this::effortByOwnRows, this::size);
    /** Searches that have been accepted and are not over, and whether the table is closed: who makes it CLOSED ends the loader. */
    private final AtomicInteger users = new AtomicInteger();

    private RemoteTable(Orchestrator orchestrator, String name, OpenPool pool, Builder options) {
        this.orchestrator = orchestrator;
        this.pool = pool;
        this.ef = options.ef;
        PoolHead head = pool.head();
        this.registration = orchestrator.register(name, head.partitions());
        this.cache = new PartitionCache(
                pool.region().name(),
                options.cacheBytes,
                head.partitions(),
                head.recordBytes(),
                () -> orchestrator.trafficBytes(registration));
        this.searches = new PartitionSearch[head.partitions()];
        this.queues = new ArrayList<>(searches.length);
        for (int partition = 0; partition < searches.length; partition++) {
            searches[partition] = new PartitionSearch(pool, cache, partition, options.partialAnswers, damaged);
            queues.add(orchestrator.indexing().batchQueue(registration.id(partition), searches[partition]));
        }
        Thread loader = new Thread(
                new PartitionLoader(cache, pool, options.readsPerDoorbell, options.transferTimeout.toNanos()),
                "roost-loader-" + name);
        loader.setDaemon(true);
        loader.start();
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check("query", request);
        requireOpen();
        return efforts.search(request, asked -> submit(asked, RemoteAnswer::result));
    }

    /**
     * As {@link #search(SearchRequest)}, and says how many partitions are missing in a partial answer. A target recall is for {@link
     * #search(SearchRequest)}.
     *
     * @param request what to find; its effort is the number of partitions to visit
     * @return completes with the nearest rows found
     * @throws IllegalArgumentException if the request asks for a recall, or is not as said
     */
    public CompletableFuture<RemoteAnswer> answer(SearchRequest request) {
        check("query", request);
        if (!Double.isNaN(request.targetRecall())) {
            throw new IllegalArgumentException(
                    "a search for an answer must give its effort, got a target recall of " + request.targetRecall());
        }
        requireOpen();
        return submit(request, Function.identity());
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, pool.head().visited());
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k, int effort) {
        SearchRequest request = requestOf(query, k, effort, SubmitOptions.DEFAULT);
        requireOpen();
        return submit(request, answer -> answer.result().neighbors());
    }

    private SearchRequest requestOf(float[] query, int k, int effort, SubmitOptions options) {
        requireQuery("query", query);
        requireVisited(effort);
        return SearchRequest.of(query, k).effort(effort).options(options);
    }

    private void check(String what, SearchRequest request) {
        requireQuery(what, request.query());
        requireVisited(visited(request));
    }

    private void requireQuery(String what, float[] query) {
        Vectors.require(what, query, dimension(), metric());
    }

    private void requireVisited(int visited) {
        Vectors.requireRange("visited partitions", visited, 1, searches.length);
    }

    private int visited(SearchRequest request) {
        return request.effortOr(pool.head().visited());
    }

    private void requireOpen() {
        if (!registration.isOpen()) {
            throw new TableClosedException(name());
        }
    }

    private <R> CompletableFuture<R> submit(SearchRequest request, Function<RemoteAnswer, R> result) {
        return submit(asked(request, visited(request), ef), result);
    }

    private <R> CompletableFuture<R> submit(Asked asked, Function<RemoteAnswer, R> result) {
        enter();
        CompletableFuture<R> answer;
        try {
            Step.Fork<Asked, Asked, Found, R> fork = fork(asked, true, result);
            answer = orchestrator
                    .indexing()
                    .submitFork(fork, asked, asked.request().options());
        } catch (Throwable refused) {
            leave(asked);
            throw refused;
        }
        var _ = answer.whenComplete((found, failure) -> leave(asked));
        return answer;
    }

    private Asked asked(SearchRequest request, int visited, int width) {
        return new Asked(request, width, visited, pool.directory());
    }

    /** What follows it knows the query already, whatever is passed on. */
    private <Q, R> Step.Fork<Q, Asked, Found, R> fork(Asked asked, boolean kept, Function<RemoteAnswer, R> result) {
        int[] partitions = pool.nearest(asked.request().query(), asked.visited());
        if (kept) {
            asked.needs(partitions, cache);
        }
        List<BatchQueue<Asked, Found>> joined = new ArrayList<>(partitions.length);
        for (int partition : partitions) {
            joined.add(queues.get(partition));
        }
        return new Step.Fork<>(
                List.of(), joined, asked, (same, found, context) -> Step.done(result.apply(merge(asked, found))));
    }

    private RemoteAnswer merge(Asked asked, List<Found> found) {
        RemoteAnswer answer =
                NearestOf.of(found, asked.request().k(), asked.request().radius(), asked.cutShort());
        if (answer.isPartial()) {
            partial.increment();
        }
        return answer;
    }

    /**
     * Searches for a batch of queries: all of them join the partitions that they visit before one partition is read, so that each is read
     * at most once for all. Those of one priority and timeout are together; queries with a target recall are by themselves.
     */
    @Override
    public List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests) {
        List<SearchRequest> all = List.copyOf(requests);
        for (int i = 0; i < all.size(); i++) {
            check("query " + i, all.get(i));
        }
        requireOpen();
        orchestrator.indexing().requireOpen();
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
                answers.set(first, searchOrRefuse(request));
            }
        }
        return answers.stream().map(Objects::requireNonNull).toList();
    }

    private void searchTogether(
            List<SearchRequest> all, List<@Nullable CompletableFuture<SearchResult>> answers, SubmitOptions options) {
        List<Integer> together = new ArrayList<>();
        List<Asked> asked = new ArrayList<>();
        List<CompletableFuture<SearchResult>> begun;
        try {
            List<Step.Fork<Object, Asked, Found, SearchResult>> forks = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                SearchRequest request = all.get(i);
                if (request.options().equals(options) && Double.isNaN(request.targetRecall())) {
                    enter();
                    Asked one = asked(request, visited(request), ef);
                    asked.add(one);
                    together.add(i);
                    forks.add(fork(one, true, RemoteAnswer::result));
                }
            }
            begun = orchestrator.indexing().submitTogether(forks, name(), options);
        } catch (Throwable refused) {
            asked.forEach(this::leave);
            throw refused;
        }
        for (int i = 0; i < begun.size(); i++) {
            Asked one = asked.get(i);
            answers.set(together.get(i), begun.get(i));
            var _ = begun.get(i).whenComplete((found, failure) -> leave(one));
        }
    }

    private CompletableFuture<SearchResult> searchOrRefuse(SearchRequest request) {
        try {
            return search(request);
        } catch (RuntimeException refused) {
            // Others have begun: the caller must get their futures.
            return CompletableFuture.failedFuture(refused);
        }
    }

    /**
     * On a worker, a search as {@link #search(float[], int, int)} makes it. In a thread that is no worker it waits for partitions, and
     * searches them one after the other.
     */
    @Override
    public SearchFunction<float[], Neighbors> searchFunction(int k, int effort) {
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        requireVisited(effort);
        return new SearchFunction<>() {
            @Override
            public Step<float[], Neighbors> step(float[] query, SearchContext context) {
                Asked asked = asked(requestOf(query, k, effort, SubmitOptions.DEFAULT), effort, ef);
                requireOpen();
                // Nobody tells when it is over, so no partition is kept for it.
                return fork(asked, false, answer -> answer.result().neighbors());
            }

            @Override
            public Neighbors search(float[] query, SearchContext context) throws RemoteMemoryException {
                Asked asked = asked(requestOf(query, k, effort, SubmitOptions.DEFAULT), effort, ef);
                enter();
                try {
                    List<Found> found = new ArrayList<>();
                    for (int partition : pool.nearest(query, effort)) {
                        found.add(searches[partition].searchHere(asked, context));
                    }
                    return merge(asked, found).result().neighbors();
                } finally {
                    leave();
                }
            }
        };
    }

    /** The truth is what wide searches of all partitions find. */
    @Override
    public int effortFor(double recall, int k, float[][] sample) {
        RecallSample.requireRecall(recall);
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        if (sample.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int i = 0; i < sample.length; i++) {
            requireQuery("query " + i, sample[i]);
        }
        requireOpen();
        return measuredEffort(recall, k, sample);
    }

    private int measuredEffort(double recall, int k, float[][] sample) {
        int wide = Math.min(100_000, EXACT_WIDTHS * Math.max(ef, k));
        return new RecallSample(sample, query -> inBatch(query, k, searches.length, wide))
                .leastEffort(1, searches.length, recall, visited -> query -> inBatch(query, k, visited, ef));
    }

    private CompletableFuture<Neighbors> inBatch(float[] query, int k, int visited, int width) {
        requireOpen();
        Asked asked = asked(requestOf(query, k, visited, SubmitOptions.BATCH), visited, width);
        return submit(asked, found -> found.result().neighbors());
    }

    /** By rows as queries: each finds itself too, so one neighbour more is looked for, which every search finds. */
    private int effortByOwnRows(double recall, int k) {
        float[][] sample = pool.sample();
        int withItself = Math.min(Math.min(k + 1, Vectors.MOST_NEIGHBORS), Math.max(1, size()));
        return measuredEffort((recall * (withItself - 1) + 1) / withItself, withItself, sample);
    }

    /** {@return false: the rows of a pool are fixed} */
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
        return new UnsupportedOperationException("the rows of remote table " + name() + " are fixed");
    }

    /** Fetches the partitions, one after the other, until one has the row. Blocks: not for a worker's thread. */
    @Override
    public float @Nullable [] vector(long id) {
        enter();
        try {
            for (PartitionSearch search : searches) {
                float[] found = search.vector(id, pool.directory());
                if (found != null) {
                    return found;
                }
            }
            return null;
        } catch (RemoteMemoryException lost) {
            throw new UncheckedIOException(lost);
        } finally {
            leave();
        }
    }

    /** Copies the pool; the file is one that can be served and opened. */
    @Override
    public void save(Path file) throws IOException {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(PIECE, 64);
            long bytes = pool.head().bytes();
            WholeFile.replace(file, channel -> {
                for (long at = 0; at < bytes; at += PIECE) {
                    MemorySegment part = piece.asSlice(0, Math.min(PIECE, bytes - at));
                    pool.await(pool.region().get(List.of(new RemoteRegion.Transfer(at, part))));
                    if (at == 0) {
                        // A copy is served by nobody yet.
                        part.set(Bytes.LONG, PoolHead.TERM_AT, 0);
                    }
                    WholeFile.writeAll(channel, part.asByteBuffer());
                }
            });
        } finally {
            leave();
        }
    }

    @Override
    public String name() {
        return registration.name();
    }

    @Override
    public int size() {
        return pool.rows();
    }

    @Override
    public int dimension() {
        return pool.head().dimension();
    }

    @Override
    public Metric metric() {
        return pool.head().metric();
    }

    @Override
    public ElementType elementType() {
        return ElementType.FLOAT32;
    }

    /** {@return the table at this moment; its bytes are those of the partitions in the pool, what is cached is in {@link #remoteStats}} */
    @Override
    public TableStats stats() {
        long bytes = 0;
        for (Directory.Place place : pool.directory().partitions()) {
            bytes += place.bytes();
        }
        return new TableStats(name(), "remote", size(), dimension(), metric(), elementType(), searches.length, bytes);
    }

    /** {@return what was fetched, and found in the cache} */
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

    /** {@return how many partitions a search visits that does not say} */
    public int visitedByDefault() {
        return pool.head().visited();
    }

    /**
     * The partitions that a search visits.
     *
     * @param query of the table's dimension, finite
     * @param visited how many, from 1 to the number of partitions
     * @return their numbers, the nearest centroid first
     */
    public int[] partitionsOf(float[] query, int visited) {
        requireQuery("query", query);
        requireVisited(visited);
        return pool.nearest(query, visited);
    }

    @Override
    public Registration registration() {
        return registration;
    }

    private void enter() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                throw new TableClosedException(name());
            }
        } while (!users.compareAndSet(before, before + 1));
    }

    private void leave(Asked asked) {
        asked.over(cache);
        leave();
    }

    private void leave() {
        if (users.decrementAndGet() == CLOSED) {
            cache.close();
        }
    }

    @Override
    public void close() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                return;
            }
        } while (!users.compareAndSet(before, before | CLOSED));
        registration.close();
        if (before == 0) {
            cache.close();
        }
    }

    @Override
    public String toString() {
        return stats().toString();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final long DEFAULT_CACHE = 1L << 30;

        private long cacheBytes = DEFAULT_CACHE;
        private int readsPerDoorbell = 16;
        private int ef = 64;
        private Duration transferTimeout = Duration.ofSeconds(5);
        private boolean partialAnswers;

        private Builder() {}

        /**
         * Sets how much memory partitions are cached in.
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
         * Sets how many partitions one doorbell asks for at most.
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
         * Sets the width of the search of each partition.
         *
         * @param value from 1 to 100,000; k where that is more; default 64
         * @return this builder
         */
        public Builder ef(int value) {
            Vectors.requireRange("ef", value, 1, 100_000);
            this.ef = value;
            return this;
        }

        /**
         * Sets how long a transfer may take. A search has its own deadline besides.
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
         * Sets whether a search that cannot have a partition's bytes answers by the others. Such an answer says that it is {@linkplain
         * SearchResult#cutShort cut short}, and how many partitions are missing.
         *
         * @param value default false: the search fails
         * @return this builder
         */
        public Builder partialAnswers(boolean value) {
            this.partialAnswers = value;
            return this;
        }

        /**
         * Opens a pool. Its head, centroids and directory are read and checked; partitions are checked as they are read.
         *
         * @param orchestrator places the table
         * @param name under which the table shows in reports
         * @param memory reaches the region; to be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or holds no whole pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition
         */
        public RemoteTable open(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
                throws IOException {
            OpenPool pool = OpenPool.open(memory.open(region), transferTimeout);
            boolean opened = false;
            try {
                Directory directory = pool.directory();
                for (int i = 0; i < directory.partitions().size(); i++) {
                    long needed = directory.partitions().get(i).bytes()
                            + directory.gapOf(i).bytes();
                    if (needed > cacheBytes) {
                        throw new IllegalArgumentException("the cache must have at least " + needed
                                + " bytes, those of partition " + i + " with its log, got " + cacheBytes);
                    }
                }
                RemoteTable table = new RemoteTable(orchestrator, name, pool, this);
                opened = true;
                return table;
            } finally {
                if (!opened) {
                    pool.close();
                }
            }
        }
    }
}
