package io.github.roost.index.ivf;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The queries that wait for one list. Who posts into an empty mailbox has the list queued; whoever scans the list takes
 * all that wait, so that under load one scan serves many queries, and without load a query waits for nobody.
 *
 * <p>A Treiber stack that is only ever emptied whole, so nodes do not come back and there is no ABA. Thread-safe.
 */
final class ListMailbox {
    private record Letter(IvfQuery<?> query, @Nullable Letter next) {}

    private final AtomicReference<@Nullable Letter> newest = new AtomicReference<>();

    /** Returns whether the mailbox was empty: then the caller must see to it that it is taken. */
    boolean post(IvfQuery<?> query) {
        while (true) {
            Letter next = newest.get();
            if (newest.compareAndSet(next, new Letter(query, next))) {
                return next == null;
            }
        }
    }

    /** Fails all that wait, for the task that was to take them will never run; needs no memory itself. */
    void failAll(Throwable failure) {
        for (Letter letter = newest.getAndSet(null); letter != null; letter = letter.next()) {
            letter.query().answer().completeExceptionally(failure);
        }
    }

    /** Empties the mailbox. */
    List<IvfQuery<?>> takeAll() {
        List<IvfQuery<?>> queries = new ArrayList<>();
        for (Letter letter = newest.getAndSet(null); letter != null; letter = letter.next()) {
            queries.add(letter.query());
        }
        return queries;
    }
}
