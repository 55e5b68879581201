package io.github.roost.core.mapping;

/**
 * Decides whether a remap pays: only if it lowers the largest domain load by more than a threshold, and by more than chance explains.
 * Searches arrive at random, so the load of a domain that served n searches of similar size varies by about 1/&radic;n of itself (Poisson);
 * a deviation of up to {@link #sigmas} times that is noise. Without this test a stationary workload would be remapped for ever. By default
 * a remap must also save more bytes in the next window than it moves ({@link RemapBenefit}).
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

    /**
     * Returns whether {@code proposed} is better than {@code current} for this traffic by more than threshold and chance, and, if moves are
     * weighed, saves more bytes than it moves.
     *
     * @param current the mapping in force
     * @param proposed the mapping that would replace it
     * @param traffic the traffic of one window
     * @param cacheBytes the size of one domain's cache; 0 if it is not known, then moves count as free
     * @return whether to remap
     */
    public boolean pays(Mapping current, Mapping proposed, Traffic traffic, long cacheBytes) {
        double[] now = DomainLoads.of(current, traffic.bytes());
        double[] then = DomainLoads.of(proposed, traffic.bytes());
        int fullest = argMax(now);
        double largestThen = then[argMax(then)];
        double gain = now[fullest] - largestThen;
        double chance = sigmas * Math.sqrt(variance(current, fullest, traffic));
        return gain > threshold * largestThen
                && gain > chance
                && (!weighsMoves
                        || RemapBenefit.of(current, proposed, traffic.bytes(), cacheBytes)
                                .pays());
    }

    private static int argMax(double[] values) {
        int best = 0;
        for (int i = 1; i < values.length; i++) {
            best = values[i] > values[best] ? i : best;
        }
        return best;
    }

    /** Variance of a domain's load as a sum of compound Poisson items: per item, searches times squared mean size. */
    private static double variance(Mapping mapping, int domain, Traffic traffic) {
        double variance = 0;
        for (int slot = 0; slot < mapping.slots(); slot++) {
            if (traffic.searches()[slot] > 0 && mapping.isHome(slot, domain)) {
                double bytes = (double) traffic.bytes()[slot] / mapping.homeCount(slot);
                variance += bytes * bytes / traffic.searches()[slot];
            }
        }
        return variance;
    }
}
