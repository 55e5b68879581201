package io.github.roost.index.remote;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.GroupSearch;
import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchCost;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.index.hnsw.HnswGraph;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Searches one partition for all queries that wait for it: asks the region whether it is there and what has changed, parks until the
 * bytes have come, verifies them, and searches. A slice pins the partition; none is pinned between slices, so that a group that is never
 * continued holds nothing.
 */
final class PartitionSearch implements GroupSearch<Asked, Found> {
    /** 64 KiB each: a slice verifies some tenths of a millisecond. */
    private static final int BLOCKS_PER_SLICE = 16;

    private static final int QUERIES_PER_SLICE = 8;
    private static final SearchResult NOTHING = new SearchResult(Neighbors.EMPTY, SearchCost.NONE, false);

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
    public Step<Group<Asked, Found>, Boolean> step(Group<Asked, Found> group, SearchContext context) {
        return new Run(group).begin(context);
    }

    /** One group on its way. Used by one slice at a time. */
    private final class Run {
        private final Group<Asked, Found> group;
        private final boolean[] answered;
        private @Nullable CompletableFuture<OpenPool.Words> words;
        private @Nullable Waiting waiting;
        private @Nullable CachedPartition verified;
        private int block;
        private int next;
        private boolean counted;
        private boolean readAgain;

        Run(Group<Asked, Found> group) {
            this.group = group;
            this.answered = new boolean[group.size()];
        }

        Step<Group<Asked, Found>, Boolean> begin(SearchContext context) {
            words = pool.words(partition);
            return words.isDone()
                    ? haveWords(context)
                    // The failure is looked at in the next slice, which may answer without the partition.
                    : new Step.Park<>(
                            Pending.of(words.exceptionally(failed -> null)), (same, slice) -> haveWords(slice));
        }

        private Step<Group<Asked, Found>, Boolean> haveWords(SearchContext context) {
            try {
                OpenPool.Words read = wordsRead();
                pool.watch().require(read.heartbeat(), System.nanoTime());
            } catch (RemoteMemoryException lost) {
                return fail(lost);
            }
            return goOn(context);
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

        private Step<Group<Asked, Found>, Boolean> goOn(SearchContext context) {
            skipToNext();
            if (next == group.size()) {
                return Step.done(true);
            }
            Directory directory = group.query(next).directory();
            try {
                if (waiting != null) {
                    waiting.requireNoFailure();
                }
                Waiting again = new Waiting(0);
                CachedPartition image = cache.acquire(partition, directory, again, !counted);
                counted = true;
                if (image == null) {
                    waiting = again;
                    return new Step.Park<>(again.pending(), (same, slice) -> goOn(slice));
                }
                waiting = null;
                return search(image, directory, context);
            } catch (RemoteMemoryException lost) {
                return fail(lost);
            }
        }

        /** To the next query that needs the partition's bytes. */
        private void skipToNext() {
            for (; next < group.size(); next++) {
                if (answered[next] || group.expired(next)) {
                    continue;
                }
                if (group.query(next).directory().partitions().get(partition).rows() > 0) {
                    return;
                }
                answer(next, new Found(NOTHING));
            }
        }

        private Step<Group<Asked, Found>, Boolean> search(
                CachedPartition image, Directory directory, SearchContext context) throws RemoteMemoryException {
            boolean held = true;
            try {
                if (!image.isVerified() && !verify(image)) {
                    return new Step.Yield<>((same, slice) -> goOn(slice));
                }
                searchSome(image, directory, context);
                return next < group.size() ? new Step.Yield<>((same, slice) -> goOn(slice)) : Step.done(true);
            } catch (DamagedPartitionException wrong) {
                damaged.increment();
                cache.discard(image);
                held = false;
                if (readAgain) {
                    throw wrong;
                }
                // It may have been hit on its way; what is wrong in the pool is wrong the second time too.
                readAgain = true;
                return new Step.Yield<>((same, slice) -> goOn(slice));
            } finally {
                if (held) {
                    cache.release(image);
                }
            }
        }

        /** Whether all is verified by now. */
        private boolean verify(CachedPartition image) throws DamagedPartitionException {
            if (verified != image) {
                verified = image;
                block = 0;
            }
            block = image.verify(pool.region().name(), block, BLOCKS_PER_SLICE);
            return block < 0;
        }

        /** Searches for the next queries that see the same epoch. */
        private void searchSome(CachedPartition image, Directory directory, SearchContext context) {
            HnswGraph graph = image.graph();
            int searched = 0;
            int index = next;
            for (; index < group.size() && searched < QUERIES_PER_SLICE; index++) {
                Asked asked = group.query(index);
                if (!answered[index] && asked.directory().epoch() == directory.epoch() && !group.expired(index)) {
                    answer(index, new Found(graph == null ? NOTHING : find(graph, asked, context)));
                    searched++;
                }
            }
            while (next < group.size() && answered[next]) {
                next++;
            }
        }

        private void answer(int index, Found found) {
            answered[index] = true;
            group.query(index).served(partition, cache);
            group.answer(index, found);
        }

        private Step<Group<Asked, Found>, Boolean> fail(RemoteMemoryException failure) {
            for (int index = 0; index < group.size(); index++) {
                if (answered[index]) {
                    continue;
                }
                if (partialAnswers) {
                    group.answer(index, Found.MISSING);
                } else {
                    group.fail(index, failure);
                }
            }
            return Step.done(true);
        }
    }

    private static SearchResult find(HnswGraph graph, Asked asked, SearchContext context) {
        SearchRequest request = asked.request();
        return graph.search(
                request.query(),
                request.k(),
                asked.ef(),
                IdFilter.all(),
                request.filter(),
                asked.visitLimit(),
                context);
    }

    /** The same in the calling thread, which waits for what it needs. */
    Found searchHere(Asked asked, SearchContext context) throws RemoteMemoryException {
        if (asked.directory().partitions().get(partition).rows() == 0) {
            return new Found(NOTHING);
        }
        CachedPartition image = awaitVerified(asked.directory());
        try {
            HnswGraph graph = image.graph();
            return new Found(graph == null ? NOTHING : find(graph, asked, context));
        } finally {
            cache.release(image);
        }
    }

    /** A verified partition, to be released. */
    CachedPartition awaitVerified(Directory directory) throws RemoteMemoryException {
        OpenPool.Words read = pool.await(pool.words(partition));
        pool.watch().require(read.heartbeat(), System.nanoTime());
        for (boolean again = false; ; again = true) {
            CachedPartition image = awaitBytes(directory);
            boolean kept = false;
            try {
                if (!image.isVerified()) {
                    image.verify(pool.region().name(), 0, Integer.MAX_VALUE);
                }
                kept = true;
                return image;
            } catch (DamagedPartitionException wrong) {
                damaged.increment();
                kept = true;
                cache.discard(image);
                if (again) {
                    throw wrong;
                }
            } finally {
                if (!kept) {
                    cache.release(image);
                }
            }
        }
    }

    private CachedPartition awaitBytes(Directory directory) throws RemoteMemoryException {
        while (true) {
            Waiting waiting = new Waiting(0);
            CachedPartition image = cache.acquire(partition, directory, waiting, true);
            if (image != null) {
                return image;
            }
            waiting.await();
        }
    }

    /** The vector of a row of the partition, or null. Waits for what it needs. */
    float @Nullable [] vector(long id, Directory directory) throws RemoteMemoryException {
        if (directory.partitions().get(partition).rows() == 0) {
            return null;
        }
        CachedPartition image = awaitVerified(directory);
        try {
            HnswGraph graph = image.graph();
            int row = graph == null ? -1 : graph.row(id);
            return graph == null || row < 0 ? null : graph.vector(row);
        } finally {
            cache.release(image);
        }
    }
}
