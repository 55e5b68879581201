package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.TopHeap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One query on its way through the lists it probes.
 *
 * <p>A scan borrows a heap of the query and gives it back, so there are as many heaps as scans of it ever ran at once,
 * and what earlier lists have found keeps later ones from looking at rows that cannot get in. The scan that counts the
 * last list off merges the heaps and completes the future.
 */
final class IvfQuery {
    private final CompletableFuture<Neighbors> answer;
    private final float[] vector;
    private final int k;
    private final @Nullable LongPredicate filter;
    private final LongSupplier moves;
    private final long movesAtBegin;
    /** The fields below are guarded by {@code heaps}. */
    private final List<TopHeap> heaps = new ArrayList<>(2);

    private final List<TopHeap> idle = new ArrayList<>(2);
    private float bound = Float.POSITIVE_INFINITY;
    private int remaining;

    /**
     * @param filter which ids may be found; null for all
     * @param moves {@link IvfRows#moves}: whether a row may have been seen at two places
     * @param answer completed by the scan that finishes last; a query whose answer is done already is not scanned for
     */
    IvfQuery(
            float[] vector,
            int k,
            int lists,
            @Nullable LongPredicate filter,
            LongSupplier moves,
            CompletableFuture<Neighbors> answer) {
        this.filter = filter;
        this.moves = moves;
        this.movesAtBegin = moves.getAsLong();
        this.answer = answer;
        this.vector = vector;
        this.k = k;
        this.remaining = lists;
    }

    CompletableFuture<Neighbors> answer() {
        return answer;
    }

    float[] vector() {
        return vector;
    }

    int k() {
        return k;
    }

    @Nullable
    LongPredicate filter() {
        return filter;
    }

    TopHeap borrow() {
        synchronized (heaps) {
            if (!idle.isEmpty()) {
                return idle.removeLast();
            }
            TopHeap heap = new TopHeap(k);
            heaps.add(heap);
            return heap;
        }
    }

    /** No row farther than this can be in the answer. */
    float bound() {
        synchronized (heaps) {
            return bound;
        }
    }

    /** One list is done, its rows are in {@code heap}. */
    void giveBack(TopHeap heap) {
        boolean last;
        synchronized (heaps) {
            idle.add(heap);
            bound = Math.min(bound, heap.bound());
            last = --remaining == 0;
        }
        if (last && !answer.isDone()) {
            answer.complete(merged());
        }
    }

    /** Only once nothing is left to scan. */
    private Neighbors merged() {
        synchronized (heaps) {
            int rows = 0;
            for (TopHeap heap : heaps) {
                rows += heap.size();
            }
            long[] ids = new long[rows];
            float[] distances = new float[rows];
            int at = 0;
            for (TopHeap heap : heaps) {
                System.arraycopy(heap.copyOfIds(), 0, ids, at, heap.size());
                System.arraycopy(heap.copyOfDistances(), 0, distances, at, heap.size());
                at += heap.size();
            }
            boolean mayRepeat = (movesAtBegin & 1) != 0 || moves.getAsLong() != movesAtBegin;
            return mayRepeat ? NearestFirst.distinct(ids, distances, k) : NearestFirst.of(ids, distances, k);
        }
    }
}
