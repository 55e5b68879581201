package io.github.roost.core.remap;

import java.util.Arrays;

/**
 * Chooses the first homes of new mapping ids: each goes to the domain with the least traffic; among equals, to the
 * domain with the fewest ids, and the first id of a table, which may be the only one that it uses, to the domain with the fewest of those. The
 * traffic of new ids is unknown, so each counts as an average id, which spreads them over the domains. Pure.
 */
public final class FirstHomes {
    private FirstHomes() {}

    /**
     * Assigns new ids to domains.
     *
     * @param loads the traffic of each domain
     * @param ids the number of ids that have their home in each domain, same length
     * @param tables the number of tables whose first id has its home in each domain, same length
     * @param count the number of new ids
     * @return one domain per new id
     */
    public static int[] assign(double[] loads, int[] ids, int[] tables, int count) {
        double[] load = loads.clone();
        int[] present = ids.clone();
        int known = Arrays.stream(ids).sum();
        double expected = known == 0 ? 1 : Math.max(1, Arrays.stream(loads).sum() / known);
        int[] homes = new int[count];
        for (int i = 0; i < count; i++) {
            int home = leastLoaded(load, i == 0 ? tables : present, present);
            homes[i] = home;
            load[home] += expected;
            present[home]++;
        }
        return homes;
    }

    private static int leastLoaded(double[] loads, int[] first, int[] second) {
        int best = 0;
        for (int domain = 1; domain < loads.length; domain++) {
            int order = Double.compare(loads[domain], loads[best]);
            order = order == 0 ? Integer.compare(first[domain], first[best]) : order;
            order = order == 0 ? Integer.compare(second[domain], second[best]) : order;
            best = order < 0 ? domain : best;
        }
        return best;
    }
}
