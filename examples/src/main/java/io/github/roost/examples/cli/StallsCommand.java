package io.github.roost.examples.cli;

import io.github.roost.bench.Samples;
import io.github.roost.bench.disk.StallsBench;
import io.github.roost.bench.disk.StallsBench.Outcome;
import io.github.roost.bench.disk.StallsBench.Way;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench stalls}: updates of a table on disk beside its searches. */
@Command(
        name = "stalls",
        description = "Updates of a table on disk, in slices of 5 us and in coarse ones, beside its searches.")
final class StallsCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description = "Where the table is written; default the temporary one.")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the table; default 50,000.")
    private int rows = 50_000;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all ways; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time of each at a time; default 1000.")
    private int sliceMillis = 1_000;

    @Mixin
    private final JsonOption json;

    StallsCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--rows", rows, 1_000, 100_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        Map<Way, List<Outcome>> outcomes = new StallsBench(folder, rows, Duration.ofMillis(sliceMillis)).run(rounds);
        json.line(
                "updates   searches/s      P50 us  beside none          P99 us  beside none        updates/s  stalled  prune");
        Map<String, Object> results = new LinkedHashMap<>();
        outcomes.forEach((way, rounds) -> {
            results.put(way.name().toLowerCase(Locale.ROOT), rounds);
            List<Outcome> none = outcomes.getOrDefault(Way.NONE, List.of());
            Samples p50 = beside(rounds, none, Outcome::p50us);
            Samples p99 = beside(rounds, none, Outcome::p99us);
            json.line(String.format(
                    Locale.ROOT,
                    "%-8s  %10.0f  %10.0f  %4.2f (%4.2f to %4.2f)  %8.0f  %4.2f (%4.2f to %4.2f)  %9.0f  %5.0f %%  %3.0f %%",
                    way.name().toLowerCase(Locale.ROOT),
                    median(rounds, Outcome::searchesPerSecond),
                    median(rounds, Outcome::p50us),
                    p50.median(),
                    p50.least(),
                    p50.most(),
                    median(rounds, Outcome::p99us),
                    p99.median(),
                    p99.least(),
                    p99.most(),
                    median(rounds, Outcome::updatesPerSecond),
                    100 * median(rounds, Outcome::stalledShare),
                    100 * median(rounds, Outcome::pruneShare)));
        });
        json.print(Map.of("results", results));
        return 0;
    }

    private static double median(List<Outcome> rounds, ToDoubleFunction<Outcome> figure) {
        return Samples.of(rounds.stream().mapToDouble(figure).boxed().toList()).median();
    }

    /** Round by round: what slows the machine for a while slows both. */
    private static Samples beside(List<Outcome> rounds, List<Outcome> none, ToDoubleFunction<Outcome> figure) {
        return Samples.of(IntStream.range(0, rounds.size())
                .mapToObj(i -> figure.applyAsDouble(rounds.get(i)) / figure.applyAsDouble(none.get(i)))
                .toList());
    }
}
