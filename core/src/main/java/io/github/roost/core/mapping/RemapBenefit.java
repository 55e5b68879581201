package io.github.roost.core.mapping;

/**
 * What a remap is predicted to save and to cost in the next window, in bytes, where that window's traffic is like the
 * last one's.
 *
 * <p>A domain serves its fair share of all traffic from its own cache; what its items draw above that share is searched
 * by idle workers of other domains, from another cache or from memory. Those bytes are what a better balance saves. An
 * item that moves is read into the cache of its new home once: at most as many bytes as its searches touch, and no more
 * in one domain than the cache holds.
 *
 * @param savedBytes bytes above the fair share under the present mapping, less those under the proposed one; below 0
 *     where the proposed mapping is worse
 * @param movedBytes bytes read once more because they are in another domain's cache, at least 0
 */
public record RemapBenefit(long savedBytes, long movedBytes) {
    /**
     * Predicts what replacing a mapping brings.
     *
     * @param current the mapping in force
     * @param proposed the mapping that would replace it, of the same slots and domains
     * @param bytes traffic of each slot in one window
     * @param cacheBytes size of one domain's cache; 0 where it is not known, and moving then counts as free
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
