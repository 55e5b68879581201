package io.github.roost.simulator;

import io.github.roost.core.spi.GroupRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * A batch queue on virtual time: the queries that wait for one list, grouped by {@code core}'s rule. Not thread-safe.
 */
final class VirtualBatchQueue {
    private final GroupRule rule;
    private final Queue<VirtualQuery> waiting = new ArrayDeque<>(2);
    private int tasks;
    private long nanosPerQuery;

    VirtualBatchQueue(GroupRule rule) {
        this.rule = rule;
    }

    /** Adds a query; returns whether a task must be queued, which will {@linkplain #take take} a group. */
    boolean join(VirtualQuery query, boolean workersFree) {
        waiting.add(query);
        if (!GroupRule.needsTask(waiting.size(), tasks, rule.size(nanosPerQuery, workersFree))) {
            return false;
        }
        tasks++;
        return true;
    }

    /** Takes a group for a task that was queued for it; empty if other tasks took all queries. */
    List<VirtualQuery> take() {
        List<VirtualQuery> group = new ArrayList<>();
        for (int left = GroupRule.taken(waiting.size(), tasks); left > 0; left--) {
            group.add(waiting.remove());
        }
        tasks--;
        return group;
    }

    /** Records the time that the scan for a group took. */
    void served(double nanos, int queries) {
        nanosPerQuery = GroupRule.measured(nanosPerQuery, Math.round(nanos), queries);
    }
}
