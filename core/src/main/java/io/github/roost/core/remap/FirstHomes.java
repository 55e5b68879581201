package io.github.roost.core.remap;

import java.util.Arrays;

/**
 * Chooses the first homes of new mapping ids: each goes to the domain with the least traffic; among equals, to the
 * domain with the fewest ids. The traffic of new ids is unknown, so each counts as an average id, which spreads them
 * over the domains. Pure.
 */
public final class FirstHomes {
    private FirstHomes() {}

    /**
     * Assigns new ids to domains.
     *
     * @param loads the traffic of each domain
     * @param ids the number of ids that have their home in each domain, same length
     * @param count the number of new ids
     * @return one domain per new id
     */
    public static int[] assign(double[] loads, int[] ids, int count) {
        double[] load = loads.clone();
        int[] present = ids.clone();
        int known = Arrays.stream(ids).sum();
        double expected = known == 0 ? 1 : Math.max(1, Arrays.stream(loads).sum() / known);
        int[] homes = new int[count];
        for (int i = 0; i < count; i++) {
            int home = leastLoaded(load, present);
            homes[i] = home;
            load[home] += expected;
            present[home]++;
        }
        return homes;
    }

    private static int leastLoaded(double[] loads, int[] ids) {
        int best = 0;
        for (int domain = 1; domain < loads.length; domain++) {
            if (loads[domain] < loads[best] || (loads[domain] == loads[best] && ids[domain] < ids[best])) {
                best = domain;
            }
        }
        return best;
    }
}
