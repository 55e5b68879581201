package io.github.roost.core.mapping;

/**
 * When a remap pays: only if it lowers the largest domain load by more than a threshold, and by more than chance explains.
 * Searches arrive at random, so the load of a domain that served n searches of similar size varies by about 1/&radic;n of itself (Poisson);
 * a deviation of up to {@link #sigmas} times that is noise. Without this test a stationary workload would be remapped for ever. By default
 * a remap must also save more bytes in the next window than it moves.
 *
 * @param threshold the minimum decrease of the largest load, as a share of the proposed one; above 0
 * @param sigmas the minimum decrease in standard deviations of chance; at least 0
 * @param weighsMoves whether a remap must also save more bytes than it moves
 */
public record RemapTrigger(double threshold, double sigmas, boolean weighsMoves) {
    /** 15 %, 6 standard deviations, moves weighed. The tests show no remap in 100 windows of a stationary workload. */
    public static final RemapTrigger DEFAULT = new RemapTrigger(.15, 6, true);

    /** Checks the threshold and the deviations. */
    public RemapTrigger {
        if (!(threshold > 0)) {
            throw new IllegalArgumentException("threshold must be above 0, got " + threshold);
        }
        if (!(sigmas >= 0)) {
            throw new IllegalArgumentException("sigmas must be at least 0, got " + sigmas);
        }
    }

    /**
     * Creates a trigger that does not weigh moves.
     *
     * @param threshold the minimum decrease of the largest load, as a share of the proposed one; above 0
     * @param sigmas the minimum decrease in standard deviations of chance; at least 0
     */
    public RemapTrigger(double threshold, double sigmas) {
        this(threshold, sigmas, false);
    }
}
