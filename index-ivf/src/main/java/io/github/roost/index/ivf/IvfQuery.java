package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.core.vector.SearchCost;
import io.github.roost.core.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the scans of one query have found.
 *
 * <p>A scan borrows a collector of the query and gives it back, so there are as many collectors as scans of it ever ran
 * at once, and what earlier lists have found keeps later ones from looking at rows that cannot get in. When all lists are
 * scanned {@link #result} merges the collectors.
 *
 * @param <C> what keeps the rows that scans have found
 */
abstract class IvfQuery<C> {
    private final IvfRequest request;
    private final BooleanSupplier mayRepeat;
    /** The fields below are guarded by {@code collectors}. */
    private final List<C> collectors = new ArrayList<>(2);

    private final List<C> idle = new ArrayList<>(2);
    /** Written under the lock as well, read without it: an older bound is only looser. */
    private volatile float bound;
    /** Rows that were compared. */
    private long visited;
    /** Lists that were scanned. */
    private long expanded;
    /** Whether a list was left out because of the visit limit. */
    private boolean cutShort;
    /** What a filter threw; from then on the query is not scanned for. */
    private volatile @Nullable Throwable failure;

    /**
     * @param bound no score above it can be in the answer
     * @param mayRepeat {@link View#mayRepeat}
     */
    IvfQuery(IvfRequest request, float bound, BooleanSupplier mayRepeat) {
        this.request = request;
        this.bound = bound;
        this.mayRepeat = mayRepeat;
    }

    /** An empty collector. */
    abstract C collector();

    /** No row with a higher score than this can get into what has been collected. */
    abstract float boundOf(C collected);

    /** Whether others may have been left out for rows that have been collected; {@code mayRepeat} as in {@link #merged}. */
    abstract boolean mayLack(List<C> collected, boolean mayRepeat);

    /** The answer, of all that has been collected; {@code mayRepeat} says that a row may be there twice. */
    abstract Neighbors merged(List<C> collected, boolean mayRepeat);

    /** Whether an answer has less than was found, so that what may have been left out belongs there. */
    boolean isShort(Neighbors found) {
        return found.size() < request.k();
    }

    IvfRequest request() {
        return request;
    }

    /** Has the query fail, and no other that is scanned for at the same time. */
    void fail(Throwable cause) {
        failure = cause;
    }

    /** Whether further scans are for nothing: it has failed, or come to its visit limit. */
    boolean isOver() {
        if (failure != null) {
            return true;
        }
        return request.visitLimit() != Long.MAX_VALUE && isAtLimit();
    }

    private boolean isAtLimit() {
        synchronized (collectors) {
            boolean atLimit = visited >= request.visitLimit();
            cutShort |= atLimit;
            return atLimit;
        }
    }

    C borrow() {
        synchronized (collectors) {
            if (!idle.isEmpty()) {
                return idle.removeLast();
            }
            C collector = collector();
            collectors.add(collector);
            return collector;
        }
    }

    /** No row with a higher score than this can be in the answer. */
    float bound() {
        return bound;
    }

    /** One list is done, of which so many rows were compared; what was found is in {@code collected}. */
    void giveBack(C collected, long rows) {
        synchronized (collectors) {
            idle.add(collected);
            visited += rows;
            expanded++;
            float found = boundOf(collected);
            if (found < bound) {
                bound = found;
            }
        }
    }

    /**
     * The answer, once all lists are scanned and nobody touches the collectors any more.
     *
     * @throws RuntimeException what the filter threw
     */
    Result result() {
        Throwable failed = failure;
        if (failed != null) {
            if (failed instanceof Error error) {
                throw error;
            }
            throw failed instanceof RuntimeException unchecked ? unchecked : new CompletionException(failed);
        }
        boolean repeats = mayRepeat.getAsBoolean();
        boolean mayLack = mayLack(collectors, repeats);
        Neighbors found = merged(collectors, repeats);
        boolean lacks = request.lacksRoom(found.size()) || (mayLack && isShort(found));
        return new Result(new SearchResult(found, new SearchCost(visited, expanded), cutShort), lacks && !cutShort);
    }

    /**
     * What a query has found.
     *
     * @param lacks whether rows may be missing, for one that was seen twice or for want of room
     */
    record Result(SearchResult found, boolean lacks) {}
}
