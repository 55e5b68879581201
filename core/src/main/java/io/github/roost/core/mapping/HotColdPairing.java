package io.github.roost.core.mapping;

import java.util.Arrays;

/**
 * Algorithm 1 of the paper (Huang et al., "CCD-Level and Load-Aware Thread Orchestration for In-Memory Vector ANNS on Multi-Core CPUs",
 * 2026): the hottest item left goes to the least loaded domain, and the coldest item left joins it there if both fit under the mean load of
 * all domains. Ties: items by traffic descending, then id ascending; domains by load ascending, then index ascending. Comparisons are
 * exact, in integers. Stateless.
 */
final class HotColdPairing implements MappingPolicy {
    @Override
    public Mapping next(Mapping current, long[] traffic) {
        return Mapping.of(current.domains(), assign(traffic, current.domains()));
    }

    /**
     * Assigns items to domains.
     *
     * @param traffic the traffic of each item, not negative, with a sum below 2<sup>63</sup>
     * @param domains the number of domains, at least 1
     * @return one domain per item, in the order of the items
     */
    static int[] assign(long[] traffic, int domains) {
        LongestFirst.requireValid(traffic, domains);
        int[] order = LongestFirst.hottestFirst(traffic);
        // Loads are integers: a load is at most the mean if it is at most the mean rounded down.
        long mean = Arrays.stream(traffic).sum() / domains;
        long[] loads = LongestFirst.noLoads(traffic.length, domains);
        int[] homes = new int[traffic.length];
        int coldest = order.length - 1;
        for (int hottest = 0; hottest <= coldest; hottest++) {
            int home = LongestFirst.leastLoaded(loads);
            homes[order[hottest]] = home;
            loads[home] += traffic[order[hottest]];
            long room = Math.max(0, mean - loads[home]);
            if (hottest < coldest && traffic[order[coldest]] <= room) {
                homes[order[coldest]] = home;
                loads[home] += traffic[order[coldest]];
                coldest--;
            }
        }
        return homes;
    }
}
