package io.github.roost.rows.service;

/**
 * Decides when slow requests are hedged, that is sent to a second server, and how many: requests slower than the 95th percentile, and at most 5 % of
 * requests. Depends only on its inputs and has no clock. Thread-safe.
 *
 * <p>It follows Dean and Barroso (<i>The Tail at Scale</i>, CACM 2013). The delay is adapted in steps: a late request lengthens it, and an early
 * request shortens it by a nineteenth of that, so it converges to where one request in twenty is late. It counts requests, not batches, as a batch of
 * many requests usually has a late one.
 */
final class HedgePolicy {
    private static final double LATE = 0.05;
    private static final double STEP = 0.02;
    private static final double MIN_NANOS = 500_000;
    private static final double FIRST_NANOS = 20_000_000;
    private static final double MAX_NANOS = 100_000_000;
    private static final double MAX_SAVED = 20;

    /** Guarded by this, as are the fields below. */
    private double delayNanos = FIRST_NANOS;

    private double saved = MAX_SAVED;

    /** Creates a policy with an initial delay of 20 ms. */
    public HedgePolicy() {}

    /**
     * Records that first requests, not hedges, are sent.
     *
     * @param requests their number, 0 or more
     */
    public synchronized void sent(int requests) {
        saved = Math.min(MAX_SAVED, saved + requests * LATE);
    }

    /**
     * The delay after which a request counts as late.
     *
     * @return nanoseconds, from 0.5 to 100 ms
     */
    public synchronized long delayNanos() {
        return (long) delayNanos;
    }

    /**
     * Records requests that were answered within the delay.
     *
     * @param requests their number, 0 or more
     */
    public synchronized void early(int requests) {
        delayNanos = Math.max(MIN_NANOS, delayNanos * Math.pow(1 - STEP * LATE, requests));
    }

    /**
     * Records requests that were not answered within the delay.
     *
     * @param requests their number, 0 or more
     * @return how many of them may be hedged; they are deducted from the budget
     */
    public synchronized int late(int requests) {
        delayNanos = Math.min(MAX_NANOS, delayNanos * Math.pow(1 + STEP * (1 - LATE), requests));
        int max = Math.min(requests, (int) saved);
        saved -= max;
        return max;
    }
}
