package io.github.roost.bench.sim;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Longest first with one thing added: an item hotter than a domain's fair share is cut into pieces of that share or less,
 * each with a home of its own. To see what that alone brings. Stateless.
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
