package io.github.roost.core;

import io.github.roost.core.pool.Task.Outcome;
import java.util.concurrent.atomic.LongAdder;

/** Outcomes of tasks that ran in their submitters' threads. Thread-safe. */
final class CallerTotals {
    private final LongAdder[] counts = new LongAdder[Outcome.values().length];

    CallerTotals() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void add(Outcome outcome) {
        counts[outcome.ordinal()].increment();
    }

    long get(Outcome outcome) {
        return counts[outcome.ordinal()].sum();
    }
}
