package io.github.roost.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * A query in flight; complete when its last part is. As in an IVF table, each scan borrows one of the query's collectors and gives it back, so there
 * are as many collectors as scans of the query that ever ran at once.
 */
final class VirtualQuery {
    final int table;
    final double begun;
    int remaining;

    private final int k;
    private final List<NearestSoFar> idle = new ArrayList<>(2);
    private double bestSeen;
    private double held;

    VirtualQuery(int table, int k, double begun, int parts) {
        this.table = table;
        this.k = k;
        this.begun = begun;
        this.remaining = parts;
    }

    NearestSoFar borrow() {
        return idle.isEmpty() ? new NearestSoFar(k) : idle.removeLast();
    }

    /** The max rows seen by a returned collector. */
    double bestSeen() {
        return bestSeen;
    }

    /** @param heldBefore rows in the collector when it was borrowed */
    void giveBack(NearestSoFar collector, double heldBefore) {
        idle.add(collector);
        bestSeen = Math.max(bestSeen, collector.seen());
        held += collector.held() - heldBefore;
    }

    /** Rows in all collectors. */
    double held() {
        return held;
    }
}
