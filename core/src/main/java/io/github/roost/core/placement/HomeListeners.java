package io.github.roost.core.placement;

import io.github.roost.core.Registration;
import io.github.roost.core.mapping.Mapping;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners to moves of one table's homes. Thread-safe. */
final class HomeListeners {
    private static final Logger LOG = LoggerFactory.getLogger(HomeListeners.class);

    /** @param hasFailed whether a failure of it has been logged: only the first is */
    private record Listening(Registration.HomeListener listener, AtomicBoolean hasFailed) {}

    private final List<Listening> all = new CopyOnWriteArrayList<>();

    void add(Registration.HomeListener listener) {
        all.add(new Listening(listener, new AtomicBoolean()));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Calls the listeners in the order in which they were added, while the table is open. Does not throw. */
    void tell(Registration table, Mapping before, Mapping after) {
        for (Listening each : all) {
            try {
                tell(each.listener(), table, before, after);
            } catch (Throwable failure) {
                logOnce(table, each, failure);
            }
        }
    }

    private static void tell(Registration.HomeListener listener, Registration table, Mapping before, Mapping after) {
        int first = table.firstSlot();
        int[] moved = IntStream.range(0, table.size())
                .filter(index -> !after.sameHomes(before, first + index))
                .toArray();
        if (moved.length > 0 && table.isOpen()) {
            listener.homesMoved(table, moved);
        }
    }

    private static void logOnce(Registration table, Listening failed, Throwable failure) {
        try {
            if (!failed.hasFailed().getAndSet(true)) {
                LOG.warn(
                        "a listener to the homes of table {} failed; it is told of further moves, its further failures"
                                + " are not logged",
                        table.name(),
                        failure);
            }
        } catch (Throwable noMemoryToLog) {
            // Nothing else can be done; the remaining listeners are still called.
        }
    }
}
