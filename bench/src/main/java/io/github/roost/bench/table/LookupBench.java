package io.github.roost.bench.table;

import io.github.roost.bench.table.LineCounts.Count;
import io.github.roost.bench.table.MapUnderTest.Batches;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many lookups per second, one at a time and in batches, compared with other libraries' maps? One thread; nine of ten keys are
 * present; NeighborHashMap is 79 % full. Maps alternate, and ratios are within one round. All maps must return the same sum.
 */
@Command(
        name = "table",
        description =
                "Cache lines per lookup of NeighborHashMap and its ablations, and lookups per second compared with other"
                        + " maps.")
public final class LookupBench implements Callable<Integer> {
    /**
     * The load of a sparse table, the upper bound: nearly all absent keys end in their first slot, and all of the table's memory has been touched.
     */
    private static final double BOUND_LOAD = .05;

    private static final int WANTED = 1 << 20;
    private static final int WARM_UP_ROUNDS = 4;
    private static final int BATCH = 500;

    /** From this number of slots on load factors are exact; the maximum is bounded by array sizes. */
    private static final int MIN_BITS = 10;

    private static final int MAX_BITS = 26;

    @Option(
            names = "--count-bits",
            paramLabel = "N",
            split = ",",
            description = "Count lines of tables of 2^N slots; default 20,24.")
    private List<Integer> countBits = List.of(20, 24);

    @Option(
            names = "--bits",
            paramLabel = "N",
            split = ",",
            description = "Measure tables of 2^N slots of 16 bytes; default 14,20,24: 256 KiB, 16 MiB, 256 MiB.")
    private List<Integer> bits = List.of(14, 20, 24);

    private final @Mixin NumberOption rounds = NumberOption.rounds(9, 10_000);
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        countBits.forEach(slots -> Options.require("--count-bits", slots, MIN_BITS, MAX_BITS));
        bits.forEach(slots -> Options.require("--bits", slots, MIN_BITS, MAX_BITS));
        NumberOption.check(rounds);
        List<Count> counts = new ArrayList<>();
        output.line("cache lines per lookup, 79 % of the slots in use     slots    here   paper");
        for (int slots : countBits) {
            for (Count count : LineCounts.of(slots, slots)) {
                counts.add(count);
                output.format("%-50s %7s %7.3f %7.2f", count.placement(), "2^" + slots, count.lines(), count.paper());
            }
        }
        List<Result> results = new ArrayList<>();
        output.line(
                "one thread, nine of ten keys are present     slots  million lookups/s     ratio: median (min to max)");
        for (int slots : bits) {
            for (Result result : measure(slots, rounds.value())) {
                results.add(result);
                output.format(
                        "%-43s %6s %18s %30s",
                        result.name(),
                        "2^" + slots,
                        "%.1f".formatted(result.lookups().median()),
                        result.ratio().spread("%.2f"));
            }
        }
        output.line(
                "ratio: rate of NeighborHashMap's get over another map's; for getAll and random access, their rate over"
                        + " get's");
        output.print(Map.of("counts", counts, "lookups", results));
        return 0;
    }

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
    private static List<Result> measure(int slotBits, int rounds) {
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
