package io.github.roost.core.remap;

import io.github.roost.core.mapping.Mapping;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The traffic of each domain under a mapping. Stateless. */
public final class DomainLoads {
    /** Enough iterations for the levels to converge to a small part of a per cent. */
    private static final int TURNS = 32;

    private DomainLoads() {}

    /**
     * Returns the bytes per domain. The traffic of an item with several homes is distributed so that it levels their
     * loads, since each of its tasks goes to a less loaded home. If several such items share homes, their levels are
     * found by iteration.
     *
     * @param mapping the homes of the items
     * @param traffic the bytes of each slot
     * @return the bytes of each domain
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
     * Returns the imbalance of loads.
     *
     * @param loads the load of each domain
     * @return the largest load divided by the mean; 1 for perfect balance, and if there is no load
     */
    public static double imbalance(double[] loads) {
        double sum = Arrays.stream(loads).sum();
        double max = Arrays.stream(loads).max().orElse(0);
        return sum == 0 ? 1 : max * loads.length / sum;
    }

    /**
     * Returns the bytes of warm traffic that a remap moves: per item, its traffic times the share of its next homes
     * that are new.
     *
     * @param before the mapping in force
     * @param after the next mapping
     * @param traffic the bytes of each slot
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
