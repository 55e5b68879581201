package io.github.roost.simulator;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Longest-first assignment with one addition: an item hotter than a domain's fair share is cut into pieces of at most that share, each with its own
 * home. Used to measure the effect of that alone. Stateless.
 */
final class SeveralHomes implements MappingPolicy {
    @Override
    public Mapping next(Mapping current, long[] traffic) {
        int domains = current.domains();
        long share = Math.max(1, Math.ceilDiv(Arrays.stream(traffic).sum(), domains));
        Integer[] hottestFirst = IntStream.range(0, traffic.length).boxed().toArray(Integer[]::new);
        Arrays.sort(hottestFirst, Comparator.comparingLong(slot -> -traffic[slot]));
        double[] loads = new double[domains];
        Mapping.Editor next = current.edit(traffic.length);
        for (int slot : hottestFirst) {
            int pieces = Math.toIntExact(Math.clamp(Math.ceilDiv(traffic[slot], share), 1, domains));
            int[] homes = IntStream.range(0, domains)
                    .boxed()
                    .sorted(Comparator.comparingDouble(domain -> loads[domain]))
                    .limit(pieces)
                    .mapToInt(Integer::intValue)
                    .toArray();
            for (int home : homes) {
                loads[home] += (double) traffic[slot] / pieces;
            }
            next.homes(slot, homes);
        }
        return next.build();
    }
}
