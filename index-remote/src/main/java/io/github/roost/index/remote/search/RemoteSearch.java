package io.github.roost.index.remote.search;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.cache.PartitionCache;
import io.github.roost.index.remote.cache.PartitionLoader;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.ListsToVisit;
import io.github.roost.vector.spi.RecallSample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Searches a pool. A query joins the batch queues of the partitions nearest to it; when all of them have answered, those to which a row may have
 * moved meanwhile are visited again, and the results are merged. If they have too few rows, further partitions are visited. Owns the cache, and the loader that fetches into it. Thread-safe.
 */
public final class RemoteSearch {
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
    private static final int MAX_REPEATS = 8;
    /** The same for the lookup of one row. */
    private static final int MAX_LOOKUP_REPEATS = 1_000;

    private final Orchestrator orchestrator;
    private final String name;
    private final OpenPool pool;
    private final int ef;
    private final PartitionCache cache;
    private final PartitionSearch[] searches;
    private final List<Indexing.BatchQueue<QueryState, PartitionResult>> queues;
    private final LongAdder damaged = new LongAdder();
    private final LongAdder partial = new LongAdder();
    /** Fetches partitions; frees pool and cache when it ends. */
    private final Thread loader;

    /**
     * Settings of a table's searches.
     *
     * @param ef of the graph search in each partition
     * @param cacheBytes size of the cache
     * @param readsPerDoorbell maximum number of partitions per request to the network card
     * @param transferTimeout of each transfer
     * @param partialAnswers whether a search answers without the partitions that cannot be read
     */
    public record Options(
            int ef, long cacheBytes, int readsPerDoorbell, Duration transferTimeout, boolean partialAnswers) {}

    /** Starts the loader, which closes pool and hold when it ends. */
    public RemoteSearch(
            Orchestrator orchestrator, Registration registration, OpenPool pool, ReaderHold hold, Options options) {
        this.orchestrator = orchestrator;
        this.name = registration.name();
        this.pool = pool;
        this.ef = options.ef();
        this.cache = new PartitionCache(
                pool, options.cacheBytes(), () -> orchestrator.indexing().trafficBytes(registration));
        this.searches = new PartitionSearch[pool.head().partitions()];
        this.queues = new ArrayList<>(searches.length);
        for (int partition = 0; partition < searches.length; partition++) {
            searches[partition] = new PartitionSearch(pool, cache, partition, options.partialAnswers(), damaged);
            queues.add(orchestrator.indexing().batchQueue(registration.id(partition), searches[partition], GROUPS));
        }
        this.loader = new Thread(
                new PartitionLoader(
                        cache,
                        pool,
                        hold,
                        options.readsPerDoorbell(),
                        options.transferTimeout().toNanos()),
                "roost-loader-" + name);
        loader.setDaemon(true);
        loader.start();
    }

    /** Submits a checked request without a target recall. */
    public CompletableFuture<SearchResult> submit(SearchRequest request) {
        return submit(query(request));
    }

    private QueryState query(SearchRequest request) {
        return new QueryState(request, ef, request.effortOr(pool.visitedFor(request.k())), cache);
    }

    private CompletableFuture<SearchResult> submit(QueryState query) {
        CompletableFuture<SearchResult> result;
        try {
            result = orchestrator
                    .indexing()
                    .submitFork(fork(query), query, query.request().options());
        } catch (Throwable refused) {
            query.release();
            throw refused;
        }
        var _ = result.whenComplete((found, failure) -> query.release());
        return result;
    }

    /**
     * Submits checked requests with equal options and without a target recall. All of them join their partitions before the first partition is
     * read.
     *
     * @return one future per request, in the same order
     */
    public List<CompletableFuture<SearchResult>> submitTogether(List<SearchRequest> requests, SubmitOptions options) {
        List<QueryState> queries = new ArrayList<>();
        List<CompletableFuture<SearchResult>> begun;
        try {
            List<Step.Fork<Object, QueryState, PartitionResult, SearchResult>> forks = new ArrayList<>();
            for (SearchRequest request : requests) {
                QueryState query = query(request);
                queries.add(query);
                forks.add(fork(query));
            }
            begun = orchestrator.indexing().submitTogether(forks, name, options);
        } catch (RuntimeException | Error refused) {
            queries.forEach(QueryState::release);
            throw refused;
        }
        for (int i = 0; i < begun.size(); i++) {
            QueryState query = queries.get(i);
            var _ = begun.get(i).whenComplete((found, failure) -> query.release());
        }
        return begun;
    }

    /** The parts take the query from its state, so the fork's own query type is free. */
    private <Q> Step.Fork<Q, QueryState, PartitionResult, SearchResult> fork(QueryState query) {
        int[] partitions = pool.nearest(query.request().query(), query.divide(query.effort(), 0));
        query.need(partitions);
        return visit(query, partitions, new VisitedPartitions(), MAX_REPEATS);
    }

    private <Q> Step.Fork<Q, QueryState, PartitionResult, SearchResult> visit(
            QueryState query, int[] partitions, VisitedPartitions visited, int repeatsLeft) {
        List<Indexing.BatchQueue<QueryState, PartitionResult>> joined = new ArrayList<>(partitions.length);
        for (int partition : partitions) {
            joined.add(queues.get(partition));
        }
        return new Step.Fork<>(List.of(), joined, query, (same, results, context) -> {
            for (int i = 0; i < partitions.length; i++) {
                visited.put(partitions[i], results.get(i));
            }
            int[] outdated = visited.outdated();
            if (outdated.length > 0 && repeatsLeft > 0) {
                return visit(query, outdated, visited, repeatsLeft - 1);
            }
            SearchRequest request = query.request();
            SearchResult found = visited.merge(request.k(), request.radius(), outdated.length > 0);
            int[] wider = wider(query, visited, found);
            if (wider.length > 0) {
                query.need(wider);
                return visit(query, wider, visited, MAX_REPEATS);
            }
            if (found.cost().missingPartitions() > 0) {
                partial.increment();
            }
            return Step.done(found.with(found.cost(), found.cutShort() || query.cutShort()));
        });
    }

    /** Further partitions for a query that has found too few rows, nearest first; none if it has enough, or may not visit more. */
    private int[] wider(QueryState query, VisitedPartitions visited, SearchResult found) {
        SearchRequest request = query.request();
        // After missing partitions too: others might take as long to fail.
        boolean isCut = query.cutShort() || found.cutShort();
        if (found.size() == request.k() || visited.count() == searches.length || isCut) {
            return new int[0];
        }
        int next = Math.min(searches.length, ListsToVisit.next(visited.count(), found.size(), request.k()));
        int[] more = visited.others(pool.within(request.query(), request.radius()), next - visited.count());
        return more.length == 0
                ? more
                : Arrays.copyOf(more, query.divide(more.length, found.cost().visited()));
    }

    /** The smallest number of partitions that reaches a recall, compared with searches of all partitions with a larger ef. */
    public int measureEffort(double recall, int k, float[][] sample) {
        return new RecallSample(sample, query -> nearest(query, k))
                .minEffort(1, searches.length, recall, visited -> query -> measured(query, k, visited, ef));
    }

    /** A search of all partitions with a larger ef, as batch work. */
    public CompletableFuture<SearchResult> nearest(float[] query, int k) {
        return measured(query, k, searches.length, Math.min(Vectors.MAX_EF, EXACT_WIDTHS * Math.max(ef, k)));
    }

    private CompletableFuture<SearchResult> measured(float[] query, int k, int visited, int width) {
        SearchRequest request = SearchRequest.of(query, k).effort(visited).options(SubmitOptions.BATCH);
        return submit(new QueryState(request, width, visited, cache)).thenApply(this::requireAllPartitions);
    }

    /** A measurement with partitions missing would give a wrong effort. */
    private SearchResult requireAllPartitions(SearchResult result) {
        if (result.cost().missingPartitions() > 0) {
            throw new CompletionException(new RemoteMemoryException(
                    pool.region().name(),
                    "could not be read in " + result.cost().missingPartitions() + " of "
                            + result.cost().partitions() + " partitions"));
        }
        return result;
    }

    /** Fetches each partition that is not in the cache, and verifies all. Blocks. */
    public void verify() throws RemoteMemoryException {
        for (PartitionSearch search : searches) {
            search.verify();
        }
    }

    /** The vector of a row, or null if there is no row of this id. Fetches one partition after another until it finds the row. Blocks. */
    public float @Nullable [] vector(long id) throws RemoteMemoryException {
        int[] left = IntStream.range(0, searches.length).toArray();
        VisitedPartitions visited = new VisitedPartitions();
        for (int repeats = 0; left.length > 0; repeats++) {
            if (repeats > MAX_LOOKUP_REPEATS) {
                throw new RemoteMemoryException(
                        pool.region().name(), "has rows that move faster than one can be looked for");
            }
            for (int partition : left) {
                PartitionSearch.Row row = searches[partition].row(id);
                if (row.vector() != null) {
                    return row.vector();
                }
                visited.put(partition, new PartitionResult(null, row.seen()));
            }
            left = visited.outdated();
        }
        return null;
    }

    public PartitionCache.Counts counts() {
        return cache.counts();
    }

    /** The number of reads of partitions that failed their checksums. */
    public long damaged() {
        return damaged.sum();
    }

    /** The number of answers with a missing partition. */
    public long partial() {
        return partial.sum();
    }

    /** Ends the loader and waits for it; it closes the pool. There must be no search left. */
    public void close() {
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
}
