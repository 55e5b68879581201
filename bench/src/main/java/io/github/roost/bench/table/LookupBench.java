package io.github.roost.bench.table;

import io.github.roost.bench.table.MapUnderTest.Batches;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.simulator.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Question: how many lookups per second, one at a time and in batches, compared with other libraries' maps? One thread; nine of ten keys are
 * present; NeighborHashMap is 79 % full. Maps alternate, and ratios are within one round. All maps must return the same sum.
 */
public final class LookupBench {
    /**
     * The load of a sparse table, the upper bound: nearly all absent keys end in their first slot, and all of the table's memory has been touched.
     */
    private static final double BOUND_LOAD = .05;

    private static final int WANTED = 1 << 20;
    private static final int WARM_UP_ROUNDS = 4;
    private static final int BATCH = 500;

    private LookupBench() {}

    /**
     * The result of one map.
     *
     * @param name of the map
     * @param slotBits the binary logarithm of NeighborHashMap's slots
     * @param lookups millions per second
     * @param ratio the rate of NeighborHashMap's {@code get} over the map's; for batches of NeighborHashMap the inverse; per round
     */
    public record Result(String name, int slotBits, Samples lookups, Samples ratio) {}

    /**
     * Measures all maps.
     *
     * @param slotBits the binary logarithm of NeighborHashMap's slots
     * @param rounds measured rounds
     */
    public static List<Result> measure(int slotBits, int rounds) {
        long[] keys = Placement.keys((int) (LineCounts.LOAD * (1 << slotBits)), slotBits);
        SplittableRandom random = new SplittableRandom(2);
        long[] wanted = new long[WANTED];
        for (int i = 0; i < WANTED; i++) {
            wanted[i] = random.nextInt(10) < 9 ? keys[random.nextInt(keys.length)] : random.nextLong();
        }
        try (NeighborHashMap table = NeighborHashMap.builder(keys.length).build();
                NeighborHashMap sparse = NeighborHashMap.builder(keys.length).build()) {
            for (int i = 0; i < keys.length; i++) {
                table.put(keys[i], i);
                if (i < BOUND_LOAD * (1 << slotBits)) {
                    sparse.put(random.nextLong(), 0);
                }
            }
            List<MapUnderTest> maps = MapUnderTest.scalar(keys, table);
            long sum = maps.getFirst().sum(wanted);
            maps.add(new Batches("getAll of " + BATCH, table, BATCH, new long[WANTED]));
            maps.add(new Batches("getAll of " + WANTED, table, WANTED, new long[WANTED]));
            for (MapUnderTest map : maps) {
                if (map.sum(wanted) != sum) {
                    throw new IllegalStateException(map.name() + " finds other payloads than NeighborHashMap");
                }
            }
            maps.add(new Batches("random access, " + BATCH, sparse, BATCH, new long[WANTED]));
            maps.add(new Batches("random access, " + WANTED, sparse, WANTED, new long[WANTED]));
            return inTurns(maps, wanted, slotBits, rounds);
        }
    }

    private static List<Result> inTurns(List<MapUnderTest> maps, long[] wanted, int slotBits, int rounds) {
        List<List<Double>> lookups = new ArrayList<>();
        List<List<Double>> ratios = new ArrayList<>();
        for (int i = 0; i < maps.size(); i++) {
            lookups.add(new ArrayList<>());
            ratios.add(new ArrayList<>());
        }
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            double first = 0;
            for (int i = 0; i < maps.size(); i++) {
                double millions = millionsPerSecond(maps.get(i), wanted);
                first = i == 0 ? millions : first;
                if (round >= 0) {
                    lookups.get(i).add(millions);
                    ratios.get(i).add(maps.get(i) instanceof Batches ? millions / first : first / millions);
                }
            }
        }
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < maps.size(); i++) {
            results.add(
                    new Result(maps.get(i).name(), slotBits, Samples.of(lookups.get(i)), Samples.of(ratios.get(i))));
        }
        return results;
    }

    private static double millionsPerSecond(MapUnderTest map, long[] wanted) {
        long begin = System.nanoTime();
        long sum = map.sum(wanted);
        long nanos = System.nanoTime() - begin;
        if (sum == 42) {
            throw new IllegalStateException("impossible sum: 42");
        }
        return wanted.length * 1e3 / nanos;
    }
}
