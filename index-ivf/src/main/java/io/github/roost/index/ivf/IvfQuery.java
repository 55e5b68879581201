package io.github.roost.index.ivf;

import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One query and the rows that its scans have found.
 *
 * <p>A scan borrows a collector of the query and gives it back, so there are as many collectors as scans of the query ever ran
 * at once, and rows found in earlier lists let later scans skip rows that cannot get in. When all lists are
 * scanned, {@link #result} merges the collectors.
 *
 * @param <C> collector of the rows that scans find
 */
abstract class IvfQuery<C> {
    private final IvfRequest request;
    private final BooleanSupplier mayRepeat;
    /** The fields below are guarded by {@code collectors}. */
    private final List<C> collectors = new ArrayList<>(2);

    private final List<C> idle = new ArrayList<>(2);
    /** Written under the lock, read without it: an older bound is only looser. */
    private volatile float bound;
    /** Number of rows compared. */
    private long visited;
    /** Number of lists scanned. */
    private long expanded;
    /** Whether a list was left out because of the visit limit. */
    private boolean cutShort;
    /** The error that a filter threw; after it the query is not scanned for. */
    private volatile @Nullable Throwable failure;

    /**
     * @param bound no row with a higher score can be in the answer
     * @param mayRepeat {@link IvfRows.View#mayRepeat}
     */
    IvfQuery(IvfRequest request, float bound, BooleanSupplier mayRepeat) {
        this.request = request;
        this.bound = bound;
        this.mayRepeat = mayRepeat;
    }

    /** An empty collector. */
    abstract C collector();

    /** No row with a higher score than this can get into the collector. */
    abstract float boundOf(C collected);

    /** Whether collected rows may have displaced others; {@code mayRepeat} as in {@link #merged}. */
    abstract boolean mayLack(List<C> collected, boolean mayRepeat);

    /** The answer, from all collectors; {@code mayRepeat} says that a row may be in them twice. */
    abstract SearchResult merged(List<C> collected, boolean mayRepeat);

    /** Whether an answer is so short that displaced rows would belong in it. */
    boolean isShort(SearchResult found) {
        return found.size() < request.k();
    }

    IvfRequest request() {
        return request;
    }

    /** Fails this query, and no other that the same scan serves. */
    void fail(Throwable cause) {
        failure = cause;
    }

    /** Whether further scans are useless: the query has failed, or reached its visit limit. */
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

    /** Gives a collector back after the scan of a list, of which {@code rows} rows were compared. */
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
     * The answer, once all lists are scanned and no thread uses the collectors.
     *
     * @throws RuntimeException that the filter threw
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
        SearchResult found = merged(collectors, repeats);
        boolean lacks = request.lacksRoom(found.size()) || (mayLack && isShort(found));
        return new Result(found.with(new SearchCost(visited, expanded), cutShort), lacks && !cutShort);
    }

    /**
     * The result of a query.
     *
     * @param lacks whether rows may be missing, because a row was seen twice or for lack of room
     */
    record Result(SearchResult found, boolean lacks) {}
}
