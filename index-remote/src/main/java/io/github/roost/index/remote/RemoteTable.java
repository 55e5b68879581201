package io.github.roost.index.remote;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.BatchQueue;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Neighbors;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.RecallEfforts;
import io.github.roost.vector.spi.RecallSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A vector table whose partitions are in remote memory. A query visits the few partitions whose centroids are nearest. A partition is fetched
 * once for all queries that wait for it, into a cache bounded in bytes (after Liu, Fang and Qian, "Efficient Vector Search on Disaggregated
 * Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * RemoteTable table = RemoteTable.builder()
 *         .cacheBytes(256L << 20)
 *         .open(orchestrator, "products", new MappedMemory(Path.of("/dev/shm")), "products.pool");
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
 * <p>Rows are inserted, replaced and removed by log records written straight into the region; see {@link #put}. A search sees every change that
 * any process made before the search began. A row that moves between partitions during a search is found too: the record that removes it names
 * its new partition, and the search visits that partition again. After eight such rounds the result is marked as cut short. Thread-safe.
 */
public final class RemoteTable implements VectorTable {
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
    /** How often a change waits for the rebuild of a full log that other writers fill again. */
    private static final int MAX_REBUILDS = 8;

    private static final Logger LOG = LoggerFactory.getLogger(RemoteTable.class);

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final OpenPool pool;
    private final ReaderHold hold;
    private final PartitionCache cache;
    private final PoolWriter writer;
    private final PairRebuild rebuild;
    private final boolean rebuildsFullLogs;
    /**
     * Pairs being rebuilt because of their logs. A pair whose rebuild failed stays here for one lease term, so that it is not retried with each
     * change.
     */
    private final Map<Integer, CompletableFuture<Void>> rebuilding = new ConcurrentHashMap<>();

    /** Rebuilds under way that callers have asked for; {@link #close} cancels them. */
    private final Set<BuildWork> rebuilds = ConcurrentHashMap.newKeySet();

    private volatile boolean isClosing;
    private final PartitionSearch[] searches;
    private final List<BatchQueue<Asked, Found>> queues;
    private final int ef;
    private final LongAdder damaged = new LongAdder();
    private final LongAdder partial = new LongAdder();
    private final RecallEfforts efforts;
    /** Fetches partitions; frees pool and cache when it ends. */
    private final Thread loader;

    private RemoteTable(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options) {
        this.orchestrator = orchestrator;
        this.efforts = new RecallEfforts(orchestrator, this::effortByOwnRows, this::size);
        this.pool = pool;
        this.hold = hold;
        this.ef = options.ef;
        this.writer = new PoolWriter(pool, options.transferTimeout.toNanos(), this::rebuildLater);
        this.rebuild = new PairRebuild(pool, writer);
        this.rebuildsFullLogs = options.rebuildsFullLogs;
        PoolHead head = pool.head();
        this.registration = orchestrator.register(name, head.partitions());
        this.cache = new PartitionCache(
                pool, options.cacheBytes, () -> orchestrator.indexing().trafficBytes(registration));
        this.searches = new PartitionSearch[head.partitions()];
        this.queues = new ArrayList<>(searches.length);
        for (int partition = 0; partition < searches.length; partition++) {
            searches[partition] = new PartitionSearch(pool, cache, partition, options.partialAnswers, damaged);
            queues.add(orchestrator.indexing().batchQueue(registration.id(partition), searches[partition], GROUPS));
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
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check("query", request);
        requireOpen();
        orchestrator.indexing().requireOpen();
        return efforts.search(request, asked -> submit(asked, RemoteAnswer::result));
    }

    /**
     * Searches like {@link #search(SearchRequest)} and also reports how many partitions are missing from a partial answer. Target recalls are
     * supported by {@link #search(SearchRequest)} only.
     *
     * @param request the query; its effort is the number of partitions to visit
     * @return completes with the nearest rows found
     * @throws IllegalArgumentException if the request has a target recall, or is invalid
     */
    public CompletableFuture<RemoteAnswer> answer(SearchRequest request) {
        check("query", request);
        if (!Double.isNaN(request.targetRecall())) {
            throw new IllegalArgumentException(
                    "a search for an answer must give its effort, got a target recall of " + request.targetRecall());
        }
        requireOpen();
        return submit(request, answer -> answer);
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, pool.head().visited());
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k, int effort) {
        SearchRequest request = requestOf(query, k, effort, SubmitOptions.DEFAULT);
        requireOpen();
        return submit(request, this::whole);
    }

    private SearchRequest requestOf(float[] query, int k, int effort, SubmitOptions options) {
        requireQuery("query", query);
        requireVisited(effort);
        return SearchRequest.of(query, k).effort(effort).options(options);
    }

    private void check(String what, SearchRequest request) {
        Objects.requireNonNull(request, "request must not be null");
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

    /** What a caller gets of an answer. */
    private interface Result<R> {
        R of(RemoteAnswer answer) throws RemoteMemoryException;
    }

    /** The rows of an answer, for callers that cannot be told that it is partial. */
    private Neighbors whole(RemoteAnswer answer) throws RemoteMemoryException {
        if (answer.isPartial()) {
            throw new RemoteMemoryException(
                    pool.region().name(),
                    "could not be read in " + answer.missing() + " of " + answer.partitions()
                            + " partitions; only searches that return a SearchResult or RemoteAnswer give partial answers");
        }
        return answer.result().neighbors();
    }

    private <R> CompletableFuture<R> submit(SearchRequest request, Result<R> result) {
        return submit(asked(request, visited(request), ef), result);
    }

    private <R> CompletableFuture<R> submit(Asked asked, Result<R> result) {
        CompletableFuture<R> answer;
        try {
            Step.Fork<Asked, Asked, Found, R> fork = fork(asked, true, result);
            answer = orchestrator
                    .indexing()
                    .submitFork(fork, asked, asked.request().options());
        } catch (Throwable refused) {
            asked.over(cache);
            throw refused;
        }
        var _ = answer.whenComplete((found, failure) -> asked.over(cache));
        return answer;
    }

    private Asked asked(SearchRequest request, int visited, int width) {
        return new Asked(request, width, visited);
    }

    /** The parts take the query from {@code asked}, so the fork's own query type is free. */
    private <Q, R> Step.Fork<Q, Asked, Found, R> fork(Asked asked, boolean kept, Result<R> result) {
        int[] partitions = pool.nearest(asked.request().query(), asked.visited());
        if (kept) {
            asked.needs(partitions, cache);
        }
        return visit(asked, partitions, new Visits(partitions), TIMES_AGAIN, result);
    }

    private <Q, R> Step.Fork<Q, Asked, Found, R> visit(
            Asked asked, int[] partitions, Visits visits, int timesAgain, Result<R> result) {
        List<BatchQueue<Asked, Found>> joined = new ArrayList<>(partitions.length);
        for (int partition : partitions) {
            joined.add(queues.get(partition));
        }
        return new Step.Fork<>(List.of(), joined, asked, (same, found, context) -> {
            for (int i = 0; i < partitions.length; i++) {
                visits.put(partitions[i], found.get(i));
            }
            int[] again = visits.tooEarly();
            return again.length > 0 && timesAgain > 0
                    ? visit(asked, again, visits, timesAgain - 1, result)
                    : Step.done(result.of(merge(asked, visits, again.length > 0)));
        });
    }

    private RemoteAnswer merge(Asked asked, Visits visits, boolean mayLackRows) {
        RemoteAnswer answer = NearestOf.of(
                visits.found(), asked.request().k(), asked.request().radius(), asked.cutShort() || mayLackRows);
        if (answer.isPartial()) {
            partial.increment();
        }
        return answer;
    }

    /**
     * Searches for a batch of queries. All of them join their partitions before the first partition is read, so each partition is read at most
     * once. Queries with equal options (priority and timeout) form one batch; each query with a target recall runs on its own.
     */
    @Override
    public List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests) {
        List<SearchRequest> all = SearchRequest.copyOf(requests);
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
        int[] together = IntStream.range(0, all.size())
                .filter(i -> all.get(i).options().equals(options)
                        && Double.isNaN(all.get(i).targetRecall()))
                .toArray();
        List<Asked> asked = new ArrayList<>();
        List<CompletableFuture<SearchResult>> begun;
        try {
            List<Step.Fork<Object, Asked, Found, SearchResult>> forks = new ArrayList<>();
            for (int i : together) {
                SearchRequest request = all.get(i);
                Asked one = asked(request, visited(request), ef);
                asked.add(one);
                forks.add(fork(one, true, RemoteAnswer::result));
            }
            begun = orchestrator.indexing().submitTogether(forks, name(), options);
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

    private CompletableFuture<SearchResult> searchOrRefuse(SearchRequest request) {
        try {
            return search(request);
        } catch (RuntimeException refused) {
            // Other searches have begun: the caller must get their futures.
            return CompletableFuture.failedFuture(refused);
        }
    }

    /**
     * {@inheritDoc} On a worker, it searches like {@link #search(float[], int, int)}, with the deadline and priority of the enclosing request. On
     * any other thread it fetches and searches the partitions one after another, and throws a {@link DeadlineExceededException} once its context
     * has expired.
     */
    @Override
    public SearchFunction<float[], Neighbors> searchFunction(int k, int effort) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        requireVisited(effort);
        return new SearchFunction<>() {
            @Override
            public Step<float[], Neighbors> step(float[] query, SearchContext context) {
                Asked asked = asked(requestOf(query, k, effort, SubmitOptions.DEFAULT), effort, ef);
                // It may have been accepted before the table was closed.
                try (var _ = registration.use().holdFromInside()) {
                    // Nothing reports the end of this search, so no partition is kept in the cache for it.
                    return fork(asked, false, RemoteTable.this::whole);
                }
            }

            @Override
            public Neighbors search(float[] query, SearchContext context) throws RemoteMemoryException {
                Asked asked = asked(requestOf(query, k, effort, SubmitOptions.DEFAULT), effort, ef);
                // The caller need not be a task of this table.
                try (var _ = registration.use().holdFromInside()) {
                    return whole(searchHere(asked, context));
                }
            }
        };
    }

    private RemoteAnswer searchHere(Asked asked, SearchContext context) throws RemoteMemoryException {
        int[] partitions = pool.nearest(asked.request().query(), asked.visited());
        Visits visits = new Visits(partitions);
        int[] left = partitions;
        for (int times = 0; left.length > 0 && times <= TIMES_AGAIN; times++) {
            for (int partition : left) {
                visits.put(partition, searches[partition].searchHere(asked, context));
            }
            left = visits.tooEarly();
        }
        return merge(asked, visits, left.length > 0);
    }

    /** {@inheritDoc} The ground truth comes from searches of all partitions with a larger ef. */
    @Override
    public int effortFor(double recall, int k, float[][] sample) {
        RecallSample.require(recall, k, sample, dimension(), metric());
        requireOpen();
        orchestrator.indexing().requireOpen("a measurement");
        return measuredEffort(recall, k, sample);
    }

    private int measuredEffort(double recall, int k, float[][] sample) {
        int wide = Math.min(Vectors.MAX_EF, EXACT_WIDTHS * Math.max(ef, k));
        return new RecallSample(sample, query -> inBatch(query, k, searches.length, wide))
                .minEffort(1, searches.length, recall, visited -> query -> inBatch(query, k, visited, ef));
    }

    private CompletableFuture<Neighbors> inBatch(float[] query, int k, int visited, int width) {
        requireOpen();
        Asked asked = asked(requestOf(query, k, visited, SubmitOptions.BATCH), visited, width);
        return submit(asked, this::whole);
    }

    private int effortByOwnRows(double recall, int k) {
        float[][] sample = pool.sample();
        return RecallSample.effortByOwnRows(
                recall, k, size(), (target, withItself) -> measuredEffort(target, withItself, sample));
    }

    @Override
    public int minEffort(int k) {
        return 1;
    }

    /** {@return whether this process may write to the region} */
    @Override
    public boolean isMutable() {
        return pool.region().isWritable();
    }

    /**
     * {@inheritDoc} Writes a record into the log of the partition whose centroid is nearest; of all processes one writer at a time. The first
     * change made by a table reads the whole pool, to learn the partition of each row. If the log is full, the pair is rebuilt first, unless
     * {@link Builder#rebuildsFullLogs} is off. Blocks: do not call it on a worker.
     *
     * @throws TableFullException if the log is full and is not or cannot be emptied; nothing has changed
     * @throws UncheckedIOException with a {@link RemoteMemoryException}: {@link WriterFencedException} if another writer has taken over; if the
     *     region fails, the row may have its old or its new state
     */
    @Override
    public boolean put(long id, float[] vector) {
        requireQuery("vector", vector);
        return change(writer -> writer.put(id, Partitioner.inSpace(metric(), vector)));
    }

    /**
     * {@inheritDoc} Writes a record like {@link #put}. Blocks: do not call it on a worker.
     *
     * @throws TableFullException as for {@link #put}
     * @throws UncheckedIOException as for {@link #put}
     */
    @Override
    public boolean remove(long id) {
        return change(writer -> writer.remove(id));
    }

    /**
     * Rebuilds the pair of a partition from its live rows: its logs are empty then, and the next epoch begins. Runs as batch work, concurrently
     * with searches and changes. By default tables do this by themselves as logs fill, see {@link Builder#rebuildsFullLogs}. Blocks: do not call
     * it on a worker; {@link #startRebuild} does not block.
     *
     * @param partition its number, from 0
     * @return true if the pair was rebuilt; false if another table has rebuilt it meanwhile
     * @throws UncheckedIOException with a {@link RemoteMemoryException} if the region fails, all its spare space is used or held by readers, or
     *     another writer has taken over; the pair is unchanged then
     */
    public boolean rebuild(int partition) {
        return rebuild(rebuildOf(partition), partition / 2);
    }

    /**
     * Starts to rebuild the pair of a partition, as {@link #rebuild(int)} does.
     *
     * @param partition its number, from 0
     * @return the running rebuild. Its result is this table, once the pair has been rebuilt, by this or another table; it fails as
     *     {@link #rebuild(int)} does, and with a {@link TableClosedException} if the table is closed meanwhile. If it is cancelled, the pair is
     *     unchanged, unless it was being published at that moment
     * @throws TableClosedException if the table is closed
     * @throws OrchestratorClosedException if the orchestrator is closed
     */
    public TableBuild<RemoteTable> startRebuild(int partition) {
        return rebuildOf(partition).start(work -> {
            rebuild(work, partition / 2);
            return this;
        });
    }

    private BuildWork rebuildOf(int partition) {
        Vectors.requireRange("partition", partition, 0, searches.length - 1L);
        requireMutable();
        requireOpen();
        return new BuildWork(orchestrator, name() + " (rebuild)");
    }

    /**
     * A rebuild enters the set and then looks whether the table closes; closing is first set and then cancels what is in the set. So at least one of
     * them sees the other, and closing does not wait for the graphs of a rebuild.
     */
    private boolean rebuild(BuildWork work, int pair) {
        rebuilds.add(work);
        try (var _ = use()) {
            requireNotClosing();
            boolean rebuilt = rebuild.run(work, pair);
            work.finish();
            return rebuilt;
        } catch (CancellationException cancelled) {
            requireNotClosing();
            throw cancelled;
        } catch (RemoteMemoryException failed) {
            throw new UncheckedIOException(failed);
        } finally {
            rebuilds.remove(work);
        }
    }

    private void requireNotClosing() {
        if (isClosing) {
            throw new TableClosedException(name());
        }
    }

    /** Called while the lease is held, so the rebuild runs in another thread. */
    private void rebuildLater(int pair) {
        CompletableFuture<Void> rebuilt = new CompletableFuture<>();
        if (!rebuildsFullLogs || rebuilding.putIfAbsent(pair, rebuilt) != null) {
            return;
        }
        Thread.ofVirtual().name("roost-rebuild-" + name()).start(() -> {
            // A change that was accepted before the table was closed may be waiting for this rebuild.
            try (var _ = registration.use().holdFromInside()) {
                // Not cancelled when the table is closed, for the same reason.
                rebuild.run(new BuildWork(orchestrator, name() + " (rebuild)"), pair);
                rebuilding.remove(pair);
                rebuilt.complete(null);
                return;
            } catch (TableClosedException | OrchestratorClosedException closed) {
                LOG.debug("pair {} of {} is not rebuilt: {}", pair, name(), closed.getMessage());
                rebuilt.completeExceptionally(closed);
            } catch (Throwable failed) {
                LOG.warn("pair {} of {} could not be rebuilt: {}", pair, name(), failed.getMessage());
                rebuilt.completeExceptionally(failed);
            }
            // Otherwise each change would retry it.
            LockSupport.parkNanos(pool.head().leaseMillis() * 1_000_000L);
            rebuilding.remove(pair);
        });
    }

    private interface Change {
        boolean by(PoolWriter writer) throws RemoteMemoryException;
    }

    private boolean change(Change change) {
        requireMutable();
        // After shutdown no worker would rebuild a pair whose log fills up.
        orchestrator.indexing().requireOpen("a change");
        try (var _ = use()) {
            for (int rebuilds = 0; ; rebuilds++) {
                try {
                    return change.by(writer);
                } catch (PartitionLogFullException full) {
                    awaitRoom(full, rebuilds);
                }
            }
        } catch (RemoteMemoryException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Waits for the rebuild of a pair with a full log; it was requested when the log was found full. */
    private void awaitRoom(PartitionLogFullException full, int rebuilds) throws RemoteMemoryException {
        if (!rebuildsFullLogs || rebuilds == MAX_REBUILDS) {
            throw new TableFullException(
                    name(),
                    full.getMessage() + ", as by rebuild(" + full.partition() + ")"
                            + (rebuilds == 0 ? "" : "; it was so " + rebuilds + " times, and the log filled each time"),
                    full);
        }
        CompletableFuture<Void> rebuilt = rebuilding.get(full.partition() / 2);
        if (rebuilt != null) {
            try {
                rebuilt.join();
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof OrchestratorClosedException closed) {
                    throw closed;
                }
                if (failed.getCause() instanceof NoSpaceException none) {
                    throw new TableFullException(name(), full.getMessage() + ", but " + none.getMessage(), none);
                }
                throw OpenPool.failure(pool.region().name(), failed);
            }
        }
    }

    private void requireMutable() {
        if (!isMutable()) {
            throw new UnsupportedOperationException(
                    "the rows of remote table " + name() + " cannot be changed: this process may only read its region");
        }
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
                    visits.put(partition, new Found(null, row.seen()));
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
            WholeFile.replace(file, new PoolCopy(pool, isMutable() ? writer : null, hold)::write);
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
        requireVisited(visited);
        return pool.nearest(query, visited);
    }

    @Override
    public Registration registration() {
        return registration;
    }

    /** Holds the table open for this thread: its memory stays valid until the hold is closed. */
    private TableUse.Hold use() {
        return registration.use().hold();
    }

    /** {@inheritDoc} Waits for a transfer in progress, but not longer than {@link Builder#transferTimeout}. */
    @Override
    public void close() {
        isClosing = true;
        rebuilds.forEach(BuildWork::cancel);
        orchestrator.indexing().closeTable(registration, this::free);
    }

    private void free() {
        writer.close();
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
        private boolean rebuildsFullLogs = true;

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
         * partitions. Searches that return {@link Neighbors}, which have no such mark, fail.
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
         * @param value default true; if false, the caller must call {@link RemoteTable#rebuild}, and a full gap refuses changes
         * @return this builder
         */
        public Builder rebuildsFullLogs(boolean value) {
            this.rebuildsFullLogs = value;
            return this;
        }

        /**
         * Opens a pool. Its head, centroids and directory are read and checked now; partitions are checked when they are read.
         *
         * @param orchestrator runs the table's searches
         * @param name name of the table in reports
         * @param memory provider of the region; must be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or holds no complete pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition with its gap
         */
        public RemoteTable open(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
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
                RemoteTable table = new RemoteTable(orchestrator, name, pool, hold, this);
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
