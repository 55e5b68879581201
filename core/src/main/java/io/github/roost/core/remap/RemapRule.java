package io.github.roost.core.remap;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.monitor.TrafficWindows;
import java.util.Optional;

/**
 * The mapper's decision at the end of a window: the policy's next mapping, if the trigger accepts it. Tries the long
 * window first, since trends take precedence over changes, then the short one. If the trigger weighs moves, a trend that the short window
 * contradicts is not followed. Pure.
 *
 * @param policy proposes a mapping
 * @param trigger decides whether the proposal pays
 */
public record RemapRule(MappingPolicy policy, RemapTrigger trigger) {
    /**
     * A remap that pays.
     *
     * @param mapping the next mapping; the publisher sets its epoch
     * @param traffic the traffic that it was decided by, one entry per slot
     */
    public record Remap(Mapping mapping, Traffic traffic) {
        /**
         * Returns the bytes of warm traffic whose home the remap changes.
         *
         * @param before the mapping that it replaces
         * @return bytes in the window
         */
        public long movedBytes(Mapping before) {
            return DomainLoads.movedBytes(before, mapping, traffic.bytes());
        }
    }

    /**
     * Decides whether to remap.
     *
     * @param now the mapping in force
     * @param windows the traffic of the long and the short window
     * @param cacheBytes the size of one domain's cache; 0 if it is not known, then moves count as free
     * @return the remap, or empty if the present mapping stays
     */
    public Optional<Remap> atWindowEnd(Mapping now, TrafficWindows windows, long cacheBytes) {
        return on(now, windows.longWindow(), cacheBytes)
                .filter(remap -> !trigger.weighsMoves() || !worsens(now, remap.mapping(), windows.shortWindow()))
                .or(() -> on(now, windows.shortWindow(), cacheBytes));
    }

    /**
     * Whether the last short window would have been served worse. After popularity has shifted the long window still shows the time before, and
     * homes that are right for the present would move back, to be moved again at the end of the next window.
     */
    private static boolean worsens(Mapping now, Mapping proposed, Traffic recent) {
        long[] bytes = recent.plus(Traffic.none(now.slots())).bytes();
        return RemapBenefit.of(now, proposed, bytes, 0).savedBytes() < 0;
    }

    private Optional<Remap> on(Mapping now, Traffic window, long cacheBytes) {
        Traffic traffic = window.plus(Traffic.none(now.slots()));
        Mapping proposed = policy.next(now, traffic.bytes());
        if (proposed.slots() != now.slots() || proposed.domains() != now.domains()) {
            throw new IllegalStateException("a mapping policy must keep " + now.slots() + " slots and " + now.domains()
                    + " domains, got " + proposed.slots() + " and " + proposed.domains());
        }
        return proposed.sameHomes(now) || !pays(trigger, now, proposed, traffic, cacheBytes)
                ? Optional.empty()
                : Optional.of(new Remap(proposed, traffic));
    }

    /**
     * Returns whether {@code proposed} is better than {@code current} for this traffic by more than threshold and chance, and, if moves are
     * weighed, saves more bytes than it moves.
     *
     * @param trigger the threshold and the deviations of chance
     * @param current the mapping in force
     * @param proposed the mapping that would replace it
     * @param traffic the traffic of one window
     * @param cacheBytes the size of one domain's cache; 0 if it is not known, then moves count as free
     * @return whether to remap
     */
    public static boolean pays(
            RemapTrigger trigger, Mapping current, Mapping proposed, Traffic traffic, long cacheBytes) {
        double[] now = DomainLoads.of(current, traffic.bytes());
        double[] then = DomainLoads.of(proposed, traffic.bytes());
        int fullest = argMax(now);
        double largestThen = then[argMax(then)];
        double gain = now[fullest] - largestThen;
        double chance = trigger.sigmas() * Math.sqrt(variance(current, fullest, traffic));
        return gain > trigger.threshold() * largestThen
                && gain > chance
                && (!trigger.weighsMoves()
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
