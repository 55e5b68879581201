package io.github.roost.core.remap;

import io.github.roost.core.mapping.Mapping;

/**
 * The predicted savings and cost of a remap in the next window, in bytes, if its traffic is like that of the last
 * window.
 *
 * <p>A domain serves its fair share of all traffic from its own cache; the traffic of its items above that share is
 * served by idle workers of other domains, from another cache or from memory. A better balance saves these bytes. An
 * item that moves is read into the cache of its new home once: at most the bytes that its searches touch, and per
 * domain at most the size of the cache.
 *
 * @param savedBytes bytes above the fair share under the present mapping, minus those under the proposed mapping;
 *     negative if the proposed mapping is worse
 * @param movedBytes bytes read again because they are in another domain's cache, at least 0
 */
public record RemapBenefit(long savedBytes, long movedBytes) {
    /**
     * Predicts the benefit of replacing a mapping.
     *
     * @param current the mapping in force
     * @param proposed the mapping that would replace it, of the same slots and domains
     * @param bytes the traffic of each slot in one window
     * @param cacheBytes the size of one domain's cache; 0 if it is not known, then moves count as free
     * @return the prediction
     */
    public static RemapBenefit of(Mapping current, Mapping proposed, long[] bytes, long cacheBytes) {
        double saved = aboveFairShare(DomainLoads.of(current, bytes)) - aboveFairShare(DomainLoads.of(proposed, bytes));
        double[] arriving = new double[proposed.domains()];
        for (int slot = 0; slot < proposed.slots(); slot++) {
            int homes = proposed.homeCount(slot);
            for (int i = 0; i < homes; i++) {
                int home = proposed.home(slot, i);
                if (!current.isHome(slot, home)) {
                    arriving[home] += (double) bytes[slot] / homes;
                }
            }
        }
        double moved = 0;
        for (double intoDomain : arriving) {
            moved += Math.min(intoDomain, (double) cacheBytes);
        }
        return new RemapBenefit(Math.round(saved), Math.round(moved));
    }

    private static double aboveFairShare(double[] loads) {
        double sum = 0;
        for (double load : loads) {
            sum += load;
        }
        double fairShare = sum / loads.length;
        double above = 0;
        for (double load : loads) {
            above += Math.max(0, load - fairShare);
        }
        return above;
    }

    /** {@return whether the remap saves more than it costs} */
    public boolean pays() {
        return savedBytes > movedBytes;
    }
}
