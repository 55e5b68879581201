package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.SearchContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One query on its way through the lists it probes.
 *
 * <p>A scan borrows a collector of the query and gives it back, so there are as many collectors as scans of it ever ran
 * at once, and what earlier lists have found keeps later ones from looking at rows that cannot get in. The scan that
 * counts the last list off merges the collectors and completes the future.
 *
 * @param <C> what keeps the rows that scans have found
 */
abstract class IvfQuery<C> {
    /** Does a search once more, in the calling thread. */
    interface Again {
        Neighbors search(SearchContext context);
    }

    private final SearchRequest request;
    private final CompletableFuture<Neighbors> answer;
    private final BooleanSupplier mayRepeat;
    private final @Nullable Again again;
    /** The fields below are guarded by {@code collectors}. */
    private final List<C> collectors = new ArrayList<>(2);

    private final List<C> idle = new ArrayList<>(2);
    private int remaining;
    /** Written under the lock as well, read without it: an older bound is only looser. */
    private volatile float bound;

    /**
     * @param bound no score above it can be in the answer
     * @param mayRepeat {@link View#mayRepeat}
     * @param again asked for the answer where rows may be missing, for one that was seen twice or for want of room; null to
     *     go without them
     * @param answer completed by the scan that finishes last; a query whose answer is done already is not scanned for
     */
    IvfQuery(
            SearchRequest request,
            float bound,
            int lists,
            BooleanSupplier mayRepeat,
            @Nullable Again again,
            CompletableFuture<Neighbors> answer) {
        this.request = request;
        this.bound = bound;
        this.mayRepeat = mayRepeat;
        this.again = again;
        this.answer = answer;
        this.remaining = lists;
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

    SearchRequest request() {
        return request;
    }

    CompletableFuture<Neighbors> answer() {
        return answer;
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

    /** One list is done, its rows are in {@code collected}. */
    void giveBack(C collected, SearchContext context) {
        boolean last;
        synchronized (collectors) {
            idle.add(collected);
            float found = boundOf(collected);
            if (found < bound) {
                bound = found;
            }
            last = --remaining == 0;
        }
        if (last && !answer.isDone()) {
            // Nothing is left to scan, so nobody else touches the collectors.
            finish(context);
        }
    }

    private void finish(SearchContext context) {
        boolean mayRepeat = this.mayRepeat.getAsBoolean();
        boolean mayLack = mayLack(collectors, mayRepeat);
        Neighbors found = merged(collectors, mayRepeat);
        boolean lacks = request.lacksRoom(found.size()) || (mayLack && isShort(found));
        if (again == null || !lacks) {
            answer.complete(found);
            return;
        }
        try {
            answer.complete(again.search(context));
        } catch (RuntimeException | Error failure) {
            answer.completeExceptionally(failure);
        }
    }
}
