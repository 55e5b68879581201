package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;

/**
 * Work over ranges of rows, in steps, on an orchestrator's workers.
 *
 * @param orchestrator whose workers
 * @param name what the work shows as in reports
 */
record BatchWork(Orchestrator orchestrator, String name) {
    /** Work on rows {@code from} to {@code to} exclusive. */
    @FunctionalInterface
    interface Range {
        void run(int from, int to);
    }

    /** Does 0 to {@code count}; returns when all of it is done. */
    void run(int count, int step, Range range) {
        orchestrator.runBatch(name, (count + step - 1) / step, piece -> {
            int from = piece * step;
            range.run(from, Math.min(count, from + step));
        });
    }
}
