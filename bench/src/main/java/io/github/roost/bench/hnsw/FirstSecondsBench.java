package io.github.roost.bench.hnsw;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench first-seconds}: how soon the searches of a new process are as fast as later ones. */
@Command(
        name = "first-seconds",
        description = {
            "How soon the searches of a new process are as fast as later ones, with and without an AOT cache.",
            "Each run is a JVM that opens the saved table and searches it on two cores, N searches in flight. settled:"
                    + " the median rate of the second half of a run. 90 %: from the first search to the beginning of the"
                    + " first 300 ms whose mean rate is at least 90 % of the settled one."
        })
public final class FirstSecondsBench implements Callable<Integer> {
    private static final String CACHE = "-XX:AOTCache";
    private static final String SAVED = "table.roost";
    /** Time for the start of a JVM and for the writing of a cache; a run that takes longer is considered hung. */
    private static final int MAX_MORE_SECONDS = 180;

    private static final int[] SHOWN = {0, 2, 4, 6, 8, 9, 10, 12, 14, 19};

    private final ObjectMapper mapper = new ObjectMapper();

    private final @Mixin NumberOption rows = NumberOption.rows(200_000, 100, 10_000_000);
    private final @Mixin NumberOption dimension = NumberOption.dimension(128, 1, 4_096);
    private final @Mixin NumberOption inFlight = NumberOption.inFlight(16, 100_000);
    private final @Mixin NumberOption ef = NumberOption.ef(20, 10_000);
    private final @Mixin NumberOption seconds = NumberOption.seconds(10, 2, 600);
    private final @Mixin NumberOption rounds = NumberOption.rounds(5, 1_000);

    @Option(names = "--table", hidden = true, description = "The saved table that this process opens and searches.")
    private @Nullable Path table;

    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws IOException, InterruptedException {
        NumberOption.check(rows, dimension, inFlight, ef, seconds, rounds);
        Topology cores = FirstCores.of(TopologyReader.live().read(), Engine.THREADS);
        if (table != null) {
            output.line(mapper.writeValueAsString(FirstSeconds.measure(
                    table,
                    cores,
                    rows.value(),
                    dimension.value(),
                    inFlight.value(),
                    ef.value(),
                    Duration.ofSeconds(seconds.value()))));
            return 0;
        }
        try (TemporaryFolder folder = new TemporaryFolder("roost-first-seconds-")) {
            output.progress("build");
            FirstSeconds.save(folder.resolve(SAVED), cores, rows.value(), dimension.value());
            print(measured(folder.path()));
        }
        return 0;
    }

    private Map<String, List<FirstSeconds>> measured(Path folder) throws IOException, InterruptedException {
        Path cache = folder.resolve("first.aot");
        output.progress("recording of an AOT cache");
        run(folder, "that records a cache", List.of(CACHE + "Output=" + cache));
        if (!Files.exists(cache)) {
            throw new CommandFailure("the JVM wrote no AOT cache; its class path must have jars only");
        }
        List<FirstSeconds> without = new ArrayList<>();
        List<FirstSeconds> with = new ArrayList<>();
        for (int round = 0; round < rounds.value(); round++) {
            output.progress("round " + (round + 1));
            without.add(run(folder, "without a cache", List.of()));
            // A cache that the JVM cannot use ends the run.
            with.add(run(folder, "with a cache", List.of(CACHE + "=" + cache, "-XX:AOTMode=on")));
        }
        Map<String, List<FirstSeconds>> runs = new LinkedHashMap<>();
        runs.put("without", without);
        runs.put("aotCache", with);
        return runs;
    }

    /** Runs this benchmark alone: its processes measure with nothing else in them. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new FirstSecondsBench()).execute(arguments));
    }

    /** Runs one measurement in a JVM of its own. */
    private FirstSeconds run(Path folder, String kind, List<String> options) throws IOException, InterruptedException {
        List<String> words = ChildJvm.command(FirstSecondsBench.class);
        // The cache of the launcher is for the service.
        words.removeIf(word -> word.startsWith(CACHE));
        words.addAll(1, options);
        words.addAll(List.of("--table", folder.resolve(SAVED).toString()));
        words.addAll(List.of("--rows", String.valueOf(rows.value())));
        words.addAll(List.of("--dimension", String.valueOf(dimension.value())));
        words.addAll(List.of("--in-flight", String.valueOf(inFlight.value()), "--ef", String.valueOf(ef.value())));
        words.addAll(List.of("--seconds", String.valueOf(seconds.value())));
        Path printed = folder.resolve("printed");
        Path complaints = folder.resolve("complaints");
        Process process = new ProcessBuilder(words)
                .redirectOutput(printed.toFile())
                .redirectError(complaints.toFile())
                .start();
        Thread ender = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(ender);
        try {
            boolean ended = process.waitFor(seconds.value() + MAX_MORE_SECONDS, TimeUnit.SECONDS);
            String line = last(printed, one -> one.startsWith("{"));
            if (!ended || process.exitValue() != 0 || line.isEmpty()) {
                throw new CommandFailure("the process %s %s: %s"
                        .formatted(kind, ended ? "failed" : "did not end", last(complaints, one -> !one.isBlank())));
            }
            return mapper.readValue(line, FirstSeconds.class);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            ChildJvm.removeHook(ender);
        }
    }

    /** The last of a file's lines that is wanted; empty if none is. */
    private static String last(Path file, Predicate<String> wanted) throws IOException {
        return Files.readAllLines(file).stream().filter(wanted).reduce("", (before, line) -> line);
    }

    private void print(Map<String, List<FirstSeconds>> runs) throws IOException {
        output.format(
                "%,d x %d, ef %d, %d in flight; medians of %d runs",
                rows.value(), dimension.value(), ef.value(), inFlight.value(), rounds.value());
        output.line("           open, ms  first, ms   90 %, ms (min to max)  settled/s   share of settled in the 100 ms"
                + " from second ...");
        output.line(" ".repeat(73)
                + String.join(
                        " ",
                        shown().mapToObj(slot -> "%5.1f".formatted(slot * .1)).toList()));
        runs.forEach((kind, all) -> {
            Samples nearly = Samples.of(
                    all.stream().map(FirstSeconds::nearlySettledMillis).toList());
            output.format(
                    "%-10s %8.0f %10.1f %20s %10.0f   %s",
                    kind,
                    median(all, FirstSeconds::openMillis),
                    median(all, FirstSeconds::firstMillis),
                    nearly.spread("%.0f"),
                    median(all, FirstSeconds::settled) * 1_000 / FirstSeconds.SLOT_MILLIS,
                    String.join(
                            " ",
                            shown().mapToObj(slot ->
                                            String.format(Locale.ROOT, "%5.2f", median(all, run -> run.share(slot))))
                                    .toList()));
        });
        output.print(Map.of(
                "rows", rows.value(),
                "dimension", dimension.value(),
                "ef", ef.value(),
                "inFlight", inFlight.value(),
                "runs", runs,
                "nearlySettledMillis", figures(runs, FirstSeconds::nearlySettledMillis),
                "settledPer100Millis", figures(runs, FirstSeconds::settled)));
    }

    private static Map<String, List<Double>> figures(
            Map<String, List<FirstSeconds>> runs, ToDoubleFunction<FirstSeconds> figure) {
        Map<String, List<Double>> figures = new LinkedHashMap<>();
        runs.forEach((kind, all) ->
                figures.put(kind, all.stream().mapToDouble(figure).boxed().toList()));
        return figures;
    }

    private IntStream shown() {
        int slots = seconds.value() * 1_000 / FirstSeconds.SLOT_MILLIS;
        return IntStream.of(SHOWN).filter(slot -> slot < slots);
    }

    private static double median(List<FirstSeconds> runs, ToDoubleFunction<FirstSeconds> figure) {
        return Samples.of(runs.stream().map(figure::applyAsDouble).toList()).median();
    }
}
