package io.github.roost.bench.sim;

/**
 * How many rows come among the k nearest so far, when rows are looked at in no order: of the first k all, of the m-th after
 * them k in m (Renyi's records, for k of them). Not thread-safe.
 */
final class NearestSoFar {
    private final int k;
    private double seen;
    private double held;

    NearestSoFar(int k) {
        this.k = k;
    }

    /**
     * Looks at more rows.
     *
     * @param bestSeen how many rows somebody else has looked at, whose k-th nearest is known here: no farther row comes in
     * @return how many of them come in for others that they displace, on average
     */
    double look(double rows, double bestSeen) {
        double from = seen;
        double to = seen + rows;
        seen = to;
        double bounded = Math.clamp(bestSeen - from, 0, rows);
        double accepted = bestSeen > 0 ? bounded * Math.min(1, k / bestSeen) : 0;
        from += bounded;
        double first = Math.clamp(k - from, 0, to - from);
        accepted += first;
        from += first;
        if (to > from) {
            accepted += k * Math.log(to / from);
        }
        double before = held;
        held = Math.min(k, held + accepted);
        return accepted - (held - before);
    }

    /** Rows looked at. */
    double seen() {
        return seen;
    }

    /** Rows that are among the nearest now, at most k. */
    double held() {
        return held;
    }
}
