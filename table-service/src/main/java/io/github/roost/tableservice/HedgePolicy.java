package io.github.roost.tableservice;

/**
 * When requests that are slow are sent to second servers, and how many at most: when they are slower than nineteen of twenty were, and no more than
 * one in twenty. A pure function of what it is told: it knows no clock. Thread-safe.
 *
 * <p>It follows Dean and Barroso (<i>The Tail at Scale</i>, CACM 2013). The delay is found by steps: a request that was late makes it longer,
 * one that was early makes it nineteen times less shorter, so it rests where one in twenty is late. Requests are counted, not batches: of
 * a batch of many requests one is late more often than not.
 */
public final class HedgePolicy {
    private static final double LATE = 0.05;
    private static final double STEP = 0.02;
    private static final double MIN_NANOS = 500_000;
    private static final double FIRST_NANOS = 20_000_000;
    private static final double MAX_NANOS = 100_000_000;
    private static final double MAX_SAVED = 20;

    /** Guarded by this, as all that follows. */
    private double delayNanos = FIRST_NANOS;

    private double saved = MAX_SAVED;

    /** Nothing is known yet. */
    public HedgePolicy() {}

    /**
     * Requests are sent, none of them a second one.
     *
     * @param requests 0 or more
     */
    public synchronized void sent(int requests) {
        saved = Math.min(MAX_SAVED, saved + requests * LATE);
    }

    /**
     * How long requests are waited for.
     *
     * @return nanoseconds, from 0.5 to 100 ms
     */
    public synchronized long delayNanos() {
        return (long) delayNanos;
    }

    /**
     * Requests were answered before the delay was over.
     *
     * @param requests 0 or more
     */
    public synchronized void early(int requests) {
        delayNanos = Math.max(MIN_NANOS, delayNanos * Math.pow(1 - STEP * LATE, requests));
    }

    /**
     * Requests were not answered when the delay was over.
     *
     * @param requests 0 or more
     * @return how many of these may be sent a second time; they count as sent
     */
    public synchronized int late(int requests) {
        delayNanos = Math.min(MAX_NANOS, delayNanos * Math.pow(1 + STEP * (1 - LATE), requests));
        int most = Math.min(requests, (int) saved);
        saved -= most;
        return most;
    }
}
