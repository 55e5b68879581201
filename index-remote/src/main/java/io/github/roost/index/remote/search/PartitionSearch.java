package io.github.roost.index.remote.search;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.cache.CachedPartition;
import io.github.roost.index.remote.cache.PartitionCache;
import io.github.roost.index.remote.cache.PartitionWaiter;
import io.github.roost.index.remote.cache.SupersededException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.PartitionLog;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowDistance;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Searches one partition for all queries of a group: reads the epoch, the heartbeat and the log tails, parks until the partition's bytes have
 * arrived, verifies them, and searches. A slice pins the partition; none is pinned between slices, so a group that is never continued holds
 * nothing.
 *
 * <p>The words are read after all queries of the group were submitted, so each query sees every change that was acknowledged before. Graph and
 * log are of the generation in the directory whose epoch the words name.
 */
final class PartitionSearch implements Indexing.GroupSearch<QueryState, PartitionResult> {
    /** Blocks of 64 KiB: verification takes some tenths of a millisecond per slice. */
    private static final int BLOCKS_PER_SLICE = 16;

    /** Approximate time budget of a slice's searches; at least one query is searched. */
    private static final long NANOS_PER_SLICE = 1_000_000;
    /** If the directory differs at each of this many reads, the pool is not written by tables. */
    private static final int MAX_REFRESHES = 100;

    private static final SearchResult NOTHING = SearchResult.EMPTY;

    private final OpenPool pool;
    private final PartitionCache cache;
    private final int partition;
    private final boolean partialAnswers;
    private final LongAdder damaged;

    PartitionSearch(OpenPool pool, PartitionCache cache, int partition, boolean partialAnswers, LongAdder damaged) {
        this.pool = pool;
        this.cache = cache;
        this.partition = partition;
        this.partialAnswers = partialAnswers;
        this.damaged = damaged;
    }

    @Override
    public Step<Group<QueryState, PartitionResult>, Boolean> step(
            Group<QueryState, PartitionResult> group, SearchContext context) {
        return new Run(group).begin(context);
    }

    /** The state of one group's search. Used by one slice at a time. */
    private final class Run {
        private final Group<QueryState, PartitionResult> group;
        private final boolean[] answered;
        private @Nullable CompletableFuture<OpenPool.Words> words;
        private @Nullable PartitionWaiter waiter;
        private @Nullable CachedPartition verified;
        private int block;
        private int next;
        private boolean counted;
        private boolean readAgain;
        private Directory directory;
        /** Slots of the log to be searched. */
        private int tail;

        private int refreshes;

        Run(Group<QueryState, PartitionResult> group) {
            this.group = group;
            this.answered = new boolean[group.size()];
            this.directory = pool.directory();
        }

        Step<Group<QueryState, PartitionResult>, Boolean> begin(SearchContext context) {
            directory = pool.directory();
            words = pool.words(partition, directory);
            return words.isDone()
                    ? wordsArrived(context)
                    // The next slice handles a failure; it may answer without the partition.
                    : new Step.Park<>(
                            Pending.of(words.exceptionally(failed -> null)), (same, slice) -> wordsArrived(slice));
        }

        private Step<Group<QueryState, PartitionResult>, Boolean> wordsArrived(SearchContext context) {
            try {
                OpenPool.Words read = wordsRead();
                pool.watch().require(read.heartbeat(), read.requestedNanos(), System.nanoTime());
                tail = pool.tail(partition, directory, read);
            } catch (RemoteMemoryException lost) {
                return fail(lost, context);
            }
            return tail >= 0 ? resume(context) : refresh(context);
        }

        /** Restarts with the directory of the region's current epoch. */
        private Step<Group<QueryState, PartitionResult>, Boolean> refresh(SearchContext context) {
            if (++refreshes > MAX_REFRESHES) {
                return fail(directoryKeepsChanging(), context);
            }
            waiter = null;
            CompletableFuture<Void> refreshed = pool.refreshLater();
            return new Step.Park<>(Pending.of(refreshed.exceptionally(failed -> null)), (same, slice) -> {
                try {
                    refreshed.join();
                } catch (CompletionException failed) {
                    return fail(OpenPool.failure(pool.region().name(), failed.getCause()), slice);
                }
                return begin(slice);
            });
        }

        private OpenPool.Words wordsRead() throws RemoteMemoryException {
            CompletableFuture<OpenPool.Words> begun = words;
            if (begun == null) {
                throw new IllegalStateException("the words are read first");
            }
            try {
                return begun.join();
            } catch (CompletionException failed) {
                throw OpenPool.failure(pool.region().name(), failed.getCause());
            }
        }

        private Step<Group<QueryState, PartitionResult>, Boolean> resume(SearchContext context) {
            skipToNext();
            if (next == group.size()) {
                return Step.done(true);
            }
            try {
                if (waiter != null) {
                    waiter.requireNoFailure();
                }
                PartitionWaiter again = new PartitionWaiter(tail);
                CachedPartition image = cache.acquire(partition, directory, again, !counted);
                counted = true;
                if (image == null) {
                    waiter = again;
                    return new Step.Park<>(again.pending(), (same, slice) -> resume(slice));
                }
                waiter = null;
                return search(image, context);
            } catch (SupersededException rebuilt) {
                return refresh(context);
            } catch (RemoteMemoryException lost) {
                return fail(lost, context);
            }
        }

        /** Moves to the next query that needs the partition's bytes. */
        private void skipToNext() {
            for (; next < group.size(); next++) {
                if (answered[next] || group.expired(next)) {
                    continue;
                }
                if (tail > 0 || directory.partitions().get(partition).rows() > 0) {
                    return;
                }
                answer(
                        next,
                        new PartitionResult(
                                NOTHING, PartitionResult.Seen.of(partition, directory, tail, PartitionLog.EMPTY)));
            }
        }

        private Step<Group<QueryState, PartitionResult>, Boolean> search(CachedPartition image, SearchContext context)
                throws RemoteMemoryException {
            boolean held = true;
            try {
                if (!image.isVerified() && !verify(image)) {
                    return new Step.Yield<>((same, slice) -> resume(slice));
                }
                PartitionLog log =
                        image.log(pool.region().name(), tail, pool.head().dimension());
                searchSome(image, log, PartitionResult.Seen.of(partition, directory, tail, log), context);
                return next < group.size() ? new Step.Yield<>((same, slice) -> resume(slice)) : Step.done(true);
            } catch (RemoteMemoryException.DamagedPartitionException wrong) {
                damaged.increment();
                cache.discard(image);
                held = false;
                if (readAgain) {
                    throw wrong;
                }
                // The read may have been corrupted, or its space reused meanwhile. Damage in the pool itself shows at
                // the second read too.
                readAgain = true;
                return refresh(context);
            } finally {
                if (held) {
                    cache.release(image);
                }
            }
        }

        /** Verifies the next blocks; returns whether all are verified. */
        private boolean verify(CachedPartition image) throws RemoteMemoryException.DamagedPartitionException {
            if (verified != image) {
                verified = image;
                block = 0;
            }
            block = image.verify(pool.region().name(), pool.head(), block, BLOCKS_PER_SLICE);
            return block < 0;
        }

        /** Searches for the next queries; queries with the same filter and k share a scan if that is less work. */
        private void searchSome(
                CachedPartition image, PartitionLog log, PartitionResult.@Nullable Seen seen, SearchContext context) {
            Graph graph = image.graph();
            long left = NANOS_PER_SLICE;
            for (int index = next; index < group.size() && left > 0; index++) {
                if (isOver(index)) {
                    continue;
                }
                if (graph == null) {
                    find(index, null, log, seen, context);
                    continue;
                }
                int[] alike = alike(index, graph);
                GroupScan.Shape shape = new GroupScan.Shape(
                        graph.rows(), graph.dimension(), group.query(index).ef());
                if (alike.length > 0 && GroupScan.isLessWork(alike.length, shape)) {
                    int[] some = Arrays.copyOf(alike, Math.min(alike.length, GroupScan.queriesIn(left, shape)));
                    scan(some, graph, log, seen, context);
                    left -= GroupScan.nanos(some.length, shape);
                } else {
                    find(index, graph, log, seen, context);
                    left -= GroupScan.graphSearchNanos(shape);
                }
            }
            while (next < group.size() && answered[next]) {
                next++;
            }
        }

        private boolean isOver(int index) {
            return answered[index] || group.expired(index);
        }

        /** The query and later ones that can share a scan with it; none if its visit limit does not allow a scan. */
        private int[] alike(int first, Graph graph) {
            SearchRequest request = group.query(first).request();
            return IntStream.range(first, group.size())
                    .filter(index -> !isOver(index))
                    .filter(index -> {
                        QueryState query = group.query(index);
                        return query.request().k() == request.k()
                                && query.request().filter() == request.filter()
                                && query.visitLimit() >= graph.rows();
                    })
                    .limit(GroupScan.MAX_QUERIES)
                    .toArray();
        }

        private void scan(
                int[] indices,
                Graph graph,
                PartitionLog log,
                PartitionResult.@Nullable Seen seen,
                SearchContext context) {
            SearchRequest like = group.query(indices[0]).request();
            List<float[]> queries = IntStream.of(indices)
                    .mapToObj(index -> group.query(index).request().query())
                    .toList();
            try {
                List<SearchResult> results = graph.scanTogether(queries, like.k(), log.alive(), like.filter(), context);
                for (int i = 0; i < indices.length; i++) {
                    answer(
                            indices[i],
                            new PartitionResult(withLog(results.get(i), log, group.query(indices[i]), context), seen));
                }
            } catch (RuntimeException | Error ofTheFilter) {
                for (int index : indices) {
                    fail(index, ofTheFilter);
                }
            }
        }

        /** Searches for one query. */
        private void find(
                int index,
                @Nullable Graph graph,
                PartitionLog log,
                PartitionResult.@Nullable Seen seen,
                SearchContext context) {
            QueryState query = group.query(index);
            SearchRequest request = query.request();
            try {
                SearchResult ofGraph = graph == null
                        ? NOTHING
                        : graph.search(
                                request.query(),
                                request.k(),
                                query.ef(),
                                log.alive(),
                                request.filter(),
                                query.visitLimit(),
                                context);
                answer(index, new PartitionResult(withLog(ofGraph, log, query, context), seen));
            } catch (RuntimeException | Error ofTheFilter) {
                fail(index, ofTheFilter);
            }
        }

        /** An error in the caller's code: only the queries with its filter fail, not others of the group. */
        private void fail(int index, Throwable ofTheFilter) {
            if (!answered[index]) {
                answered[index] = true;
                group.query(index).served(partition);
                group.fail(index, ofTheFilter);
            }
        }

        private void answer(int index, PartitionResult result) {
            answered[index] = true;
            group.query(index).served(partition);
            group.answer(index, result);
        }

        private Step<Group<QueryState, PartitionResult>, Boolean> fail(
                RemoteMemoryException failure, SearchContext context) {
            if (partialAnswers) {
                next = 0;
                return searchCache(context);
            }
            for (int index = 0; index < group.size(); index++) {
                if (!answered[index]) {
                    group.fail(index, failure);
                }
            }
            return Step.done(true);
        }

        /** Searches the cached partition if it was verified. It still counts as missing, since recent changes are unknown. */
        private Step<Group<QueryState, PartitionResult>, Boolean> searchCache(SearchContext context) {
            CachedPartition image = cache.acquireVerified(partition, directory);
            if (image == null) {
                for (int index = 0; index < group.size(); index++) {
                    if (!answered[index]) {
                        answer(index, PartitionResult.MISSING);
                    }
                }
                return Step.done(true);
            }
            try {
                while (next < group.size() && isOver(next)) {
                    next++;
                }
                searchSome(image, image.knownLog(), null, context);
            } finally {
                cache.release(image);
            }
            return next < group.size() ? new Step.Yield<>((same, slice) -> searchCache(slice)) : Step.done(true);
        }
    }

    /** Merges the rows found in the graph with the nearest rows of the log. */
    private SearchResult withLog(SearchResult ofGraph, PartitionLog log, QueryState query, SearchContext context) {
        if (log.rows().isEmpty()) {
            return ofGraph;
        }
        SearchRequest request = query.request();
        PoolHead head = pool.head();
        SearchResult ofLog = log.nearest(
                RowDistance.inSpace(head.metric(), request.query()), request.k(), head.metric(), request.filter());
        int looked = log.rows().size();
        context.touched(looked, (long) looked * head.recordBytes());
        return SearchResult.merge(List.of(ofGraph, ofLog.with(new SearchCost(looked, 1), false)), request.k());
    }

    /** A pinned partition and its state; to be released by {@link PartitionCache#release}. */
    private record Pinned(CachedPartition image, PartitionResult.Seen seen) {}

    private RemoteMemoryException directoryKeepsChanging() {
        return new RemoteMemoryException(
                pool.region().name(), "has no logs of partition " + partition + " that go with its directory");
    }

    private Pinned awaitPinned() throws RemoteMemoryException {
        boolean again = false;
        for (int refreshes = 0; refreshes <= MAX_REFRESHES; refreshes++) {
            Directory directory = pool.directory();
            OpenPool.Words read = pool.await(pool.words(partition, directory));
            pool.watch().require(read.heartbeat(), read.requestedNanos(), System.nanoTime());
            int tail = pool.tail(partition, directory, read);
            if (tail < 0) {
                pool.refresh();
                continue;
            }
            CachedPartition image = awaitBytes(directory, tail);
            if (image == null) {
                pool.refresh();
                continue;
            }
            boolean kept = false;
            try {
                if (!image.isVerified()) {
                    image.verify(pool.region().name(), pool.head(), 0, Integer.MAX_VALUE);
                }
                PartitionLog log =
                        image.log(pool.region().name(), tail, pool.head().dimension());
                kept = true;
                return new Pinned(image, PartitionResult.Seen.of(partition, directory, tail, log));
            } catch (RemoteMemoryException.DamagedPartitionException wrong) {
                damaged.increment();
                kept = true;
                cache.discard(image);
                if (again) {
                    throw wrong;
                }
                again = true;
            } finally {
                if (!kept) {
                    cache.release(image);
                }
            }
        }
        throw directoryKeepsChanging();
    }

    /** Waits for a partition and pins it; null if it was rebuilt meanwhile. */
    private @Nullable CachedPartition awaitBytes(Directory directory, int tail) throws RemoteMemoryException {
        while (true) {
            PartitionWaiter waiter = new PartitionWaiter(tail);
            CachedPartition image = cache.acquire(partition, directory, waiter, true);
            if (image != null) {
                return image;
            }
            try {
                waiter.await();
            } catch (SupersededException rebuilt) {
                return null;
            }
        }
    }

    /** Fetches and verifies the partition unless it is in the cache. Blocks. */
    void verify() throws RemoteMemoryException {
        cache.release(awaitPinned().image());
    }

    /**
     * The result of looking up a row in a partition.
     *
     * @param vector its vector, or null if the partition has no row of this id
     * @param seen state of the partition
     */
    record Row(float @Nullable [] vector, PartitionResult.Seen seen) {}

    /** Looks up a row by id. Blocks. */
    Row row(long id) throws RemoteMemoryException {
        Pinned pinned = awaitPinned();
        try {
            return new Row(pinned.image().vector(id, pinned.seen().log()), pinned.seen());
        } finally {
            cache.release(pinned.image());
        }
    }
}
