package io.github.roost.simulator;

/**
 * The expected number of rows that enter a collector of the k nearest, if rows come in random order: all of the first k, and the m-th row with
 * probability k / m (Renyi's records, generalized to k). Not thread-safe.
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
     * @param bestSeen number of rows seen by another collector, whose k-th smallest distance is used as a bound here
     * @return expected number of accepted rows that displace another row
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

    /** Number of rows looked at. */
    double seen() {
        return seen;
    }

    /** Expected number of rows held, at most k. */
    double held() {
        return held;
    }
}
