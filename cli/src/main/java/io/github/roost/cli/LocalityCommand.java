package io.github.roost.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.locality.LocalityBench;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Schedulings;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench locality}: the effect of homes on searches per second. */
@Command(
        name = "locality",
        description =
                "Searches per second of v0, v1, v2 and v2-gated; one table fits into a domain's cache, two do not.")
final class LocalityCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final LevelOption level = new LevelOption();

    @Option(names = "--table-kib", paramLabel = "N", description = "Size per table; default 750.")
    private int tableKib = 750;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 10.")
    private int rounds = 10;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per policy and round; default 500.")
    private int sliceMillis = 500;

    @Mixin
    private final JsonOption json;

    LocalityCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException {
        BenchCommand.require("--table-kib", tableKib, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        Map<String, List<Double>> results = measure();
        json.line("                    searches/s              ratio to v0 of the same round");
        json.line("              min   median      max            min  median    max");
        results.forEach((scheduling, rates) -> json.line("%-9s %s         %s"
                .formatted(
                        scheduling,
                        spread(rates, "%8.0f"),
                        spread(ratios(rates, results.getOrDefault(Schedulings.NAMES.getFirst(), rates)), "%6.2f"))));
        json.print(Map.of("tableKib", tableKib, "searchesPerSecond", results));
        return 0;
    }

    private Map<String, List<Double>> measure() {
        try {
            return new LocalityBench(level.machine(), tableKib << 10, Duration.ofMillis(sliceMillis)).run(rounds);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }

    private static List<Double> ratios(List<Double> rates, List<Double> baseline) {
        return IntStream.range(0, rates.size())
                .mapToObj(round -> rates.get(round) / baseline.get(round))
                .toList();
    }

    private static String spread(List<Double> values, String format) {
        return String.join(
                " ",
                Stream.of(
                                Samples.of(values).least(),
                                Samples.of(values).median(),
                                Samples.of(values).most())
                        .map(value -> String.format(Locale.ROOT, format, value))
                        .toList());
    }
}
