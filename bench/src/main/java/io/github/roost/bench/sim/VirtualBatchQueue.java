package io.github.roost.bench.sim;

import io.github.roost.core.policy.GroupRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** The queries that wait for one list, on virtual time: in groups as {@code core}'s rule says. Not thread-safe. */
final class VirtualBatchQueue {
    private final GroupRule rule;
    private final Queue<VirtualQuery> waiting = new ArrayDeque<>(2);
    private int tasks;
    private long nanosPerQuery;

    VirtualBatchQueue(GroupRule rule) {
        this.rule = rule;
    }

    /** Whether a task is to be queued, which {@linkplain #take takes} a group. */
    boolean join(VirtualQuery query, boolean workersFree) {
        waiting.add(query);
        if (!GroupRule.needsTask(waiting.size(), tasks, rule.size(nanosPerQuery, workersFree))) {
            return false;
        }
        tasks++;
        return true;
    }

    /** A group, for a task that was queued for it; none where others have taken all. */
    List<VirtualQuery> take() {
        List<VirtualQuery> group = new ArrayList<>();
        for (int left = GroupRule.taken(waiting.size(), tasks); left > 0; left--) {
            group.add(waiting.remove());
        }
        tasks--;
        return group;
    }

    /** Notes what scanning for a group took. */
    void served(double nanos, int queries) {
        nanosPerQuery = GroupRule.measured(nanosPerQuery, Math.round(nanos), queries);
    }
}
