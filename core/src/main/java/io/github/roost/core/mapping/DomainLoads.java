package io.github.roost.core.mapping;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Traffic summed per domain under a mapping. Stateless, thread-safe. */
public final class DomainLoads {
    /** Enough for the levels to settle to within a small part of a per cent. */
    private static final int TURNS = 32;

    private DomainLoads() {}

    /**
     * Bytes per domain. The traffic of an item with several homes fills them up to one level, since each of its tasks
     * goes to a less loaded home; where several such items share homes, their levels are found by turns.
     *
     * @param mapping which items have which homes
     * @param traffic bytes of each slot
     * @return bytes of each domain
     */
    public static double[] of(Mapping mapping, long[] traffic) {
        double[] loads = new double[mapping.domains()];
        List<Poured> poured = new ArrayList<>();
        for (int slot = 0; slot < mapping.slots(); slot++) {
            if (mapping.homeCount(slot) == 1) {
                loads[mapping.home(slot, 0)] += traffic[slot];
            } else {
                poured.add(new Poured(traffic[slot], mapping.homes(slot), new double[mapping.homeCount(slot)]));
            }
        }
        for (int turn = 0; turn < (poured.size() > 1 ? TURNS : 1); turn++) {
            poured.forEach(item -> item.pourAgain(loads));
        }
        return loads;
    }

    private record Poured(double amount, int[] homes, double[] shares) {
        void pourAgain(double[] loads) {
            for (int i = 0; i < homes.length; i++) {
                loads[homes[i]] -= shares[i];
            }
            double level = level(loads);
            for (int i = 0; i < homes.length; i++) {
                shares[i] = Math.max(0, level - loads[homes[i]]);
                loads[homes[i]] += shares[i];
            }
        }

        private double level(double[] loads) {
            double[] levels = Arrays.stream(homes)
                    .mapToDouble(home -> loads[home])
                    .sorted()
                    .toArray();
            double below = 0;
            for (int wet = 1; wet < levels.length; wet++) {
                below += levels[wet - 1];
                double level = (amount + below) / wet;
                if (level <= levels[wet]) {
                    return level;
                }
            }
            return (amount + below + levels[levels.length - 1]) / levels.length;
        }
    }

    /**
     * How unevenly loads lie.
     *
     * @param loads of each domain
     * @return the largest load over the mean, 1 for perfect balance; 1 where there is no load
     */
    public static double imbalance(double[] loads) {
        double sum = Arrays.stream(loads).sum();
        double max = Arrays.stream(loads).max().orElse(0);
        return sum == 0 ? 1 : max * loads.length / sum;
    }

    /**
     * Bytes of warm traffic that a remap moves: for every item its traffic, times the share of its next homes that were
     * not its homes before.
     *
     * @param before the mapping in force
     * @param after the next
     * @param traffic bytes of each slot
     * @return bytes
     */
    public static long movedBytes(Mapping before, Mapping after, long[] traffic) {
        double moved = 0;
        for (int slot = 0; slot < Math.min(before.slots(), after.slots()); slot++) {
            int homes = after.homeCount(slot);
            int fresh = 0;
            for (int i = 0; i < homes; i++) {
                fresh += before.isHome(slot, after.home(slot, i)) ? 0 : 1;
            }
            moved += (double) traffic[slot] * fresh / homes;
        }
        return Math.round(moved);
    }
}
