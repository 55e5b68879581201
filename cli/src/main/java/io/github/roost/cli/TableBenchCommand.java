package io.github.roost.cli;

import io.github.roost.bench.table.LineCounts;
import io.github.roost.bench.table.LineCounts.Count;
import io.github.roost.bench.table.LookupBench;
import io.github.roost.bench.table.LookupBench.Result;
import io.github.roost.simulator.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench table}: the cost of a lookup in a NeighborHashMap. */
@Command(
        name = "table",
        description =
                "Cache lines per lookup of NeighborHashMap and its ablations, and lookups per second compared with other maps.")
final class TableBenchCommand implements Callable<Integer> {
    /** From this number of slots on load factors are exact; the maximum is bounded by array sizes. */
    private static final int MIN_BITS = 10;

    private static final int MAX_BITS = 26;

    @Mixin
    private final HelpOption help = new HelpOption();

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

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all maps; default 9.")
    private int rounds = 9;

    @Mixin
    private final JsonOption json;

    TableBenchCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        countBits.forEach(slots -> BenchCommand.require("--count-bits", slots, MIN_BITS, MAX_BITS));
        bits.forEach(slots -> BenchCommand.require("--bits", slots, MIN_BITS, MAX_BITS));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        List<Count> counts = new ArrayList<>();
        json.line("cache lines per lookup, 79 % of the slots in use     slots    here   paper");
        for (int slots : countBits) {
            for (Count count : LineCounts.of(slots, slots)) {
                counts.add(count);
                json.line("%-50s %7s %7.3f %7.2f"
                        .formatted(count.placement(), "2^" + slots, count.lines(), count.paper()));
            }
        }
        List<Result> results = new ArrayList<>();
        json.line(
                "one thread, nine of ten keys are present     slots  million lookups/s     ratio: median (min to max)");
        for (int slots : bits) {
            for (Result result : LookupBench.measure(slots, rounds)) {
                results.add(result);
                json.line("%-43s %6s %18s %30s"
                        .formatted(
                                result.name(),
                                "2^" + slots,
                                "%.1f".formatted(result.lookups().median()),
                                spread(result.ratio())));
            }
        }
        json.line(
                "ratio: rate of NeighborHashMap's get over another map's; for getAll and random access, their rate over get's");
        json.print(Map.of("counts", counts, "lookups", results));
        return 0;
    }

    private static String spread(Samples samples) {
        return "%.2f (%.2f to %.2f)".formatted(samples.median(), samples.least(), samples.most());
    }
}
