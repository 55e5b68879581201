package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.Samples;
import io.github.roost.bench.hnsw.FirstSeconds;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench first-seconds}: how soon the searches of a new process are as fast as later ones. */
@Command(
        name = "first-seconds",
        description = {
            "How soon the searches of a new process are as fast as later ones, with and without an AOT cache.",
            "Each run is a JVM that opens the saved table and searches it from all threads of a closed loop. settled: the"
                    + " median rate of the second half of a run. 90 %: the time after which the mean of 300 ms has reached"
                    + " 90 % of the settled rate."
        })
final class FirstSecondsCommand implements Callable<Integer> {
    private static final String CACHE = "-XX:AOTCache";
    private static final int[] SHOWN = {0, 2, 4, 6, 8, 9, 10, 12, 14, 19};

    private final Streams streams;
    private final ObjectMapper mapper = new ObjectMapper();

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the table; default 200000.")
    private int rows = 200_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension; default 128.")
    private int dimension = 128;

    @Option(names = "--in-flight", paramLabel = "N", description = "Searches in flight; default 16.")
    private int inFlight = 16;

    @Option(names = "--ef", paramLabel = "N", description = "ef of the searches for 10 neighbours; default 20.")
    private int ef = 20;

    @Option(names = "--seconds", paramLabel = "N", description = "Time of a run; default 10.")
    private int seconds = 10;

    @Option(names = "--rounds", paramLabel = "N", description = "Runs of each kind, in turns; default 5.")
    private int rounds = 5;

    @Option(names = "--table", hidden = true, description = "The saved table that this process opens and searches.")
    private @Nullable Path table;

    @Mixin
    private final JsonOption json;

    FirstSecondsCommand(Streams streams) {
        this.streams = streams;
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--rows", rows, 100, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--in-flight", inFlight, 1, 100_000);
        BenchCommand.require("--ef", ef, 10, 10_000);
        BenchCommand.require("--seconds", seconds, 2, 600);
        BenchCommand.require("--rounds", rounds, 1, 1_000);
        Topology cores = FirstCores.of(TopologyReader.live().read(), Engine.THREADS);
        if (table != null) {
            streams.out()
                    .println(mapper.writeValueAsString(
                            FirstSeconds.measure(table, cores, inFlight, ef, Duration.ofSeconds(seconds))));
            return 0;
        }
        Path folder = Files.createTempDirectory("roost-first-seconds-");
        Path saved = folder.resolve("table.roost");
        Path cache = folder.resolve("first.aot");
        try {
            FirstSeconds.save(saved, cores, rows, dimension);
            print(measured(saved, cache));
        } finally {
            Files.deleteIfExists(saved);
            Files.deleteIfExists(cache);
            Files.deleteIfExists(folder);
        }
        return 0;
    }

    private Map<String, List<FirstSeconds>> measured(Path saved, Path cache) throws IOException, InterruptedException {
        run(saved, List.of(CACHE + "Output=" + cache));
        Map<String, List<FirstSeconds>> runs = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            runs.computeIfAbsent("without", kind -> new ArrayList<>()).add(run(saved, List.of()));
            runs.computeIfAbsent("AOT cache", kind -> new ArrayList<>()).add(run(saved, List.of(CACHE + "=" + cache)));
        }
        return runs;
    }

    /** Runs this command in a JVM of its own. */
    private FirstSeconds run(Path saved, List<String> options) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(RoostProcess.jvm());
        // The cache of the launcher is for the service.
        words.removeIf(word -> word.startsWith(CACHE));
        words.addAll(1, options);
        words.addAll(List.of("bench", "first-seconds", "--table", saved.toString()));
        words.addAll(List.of("--in-flight", String.valueOf(inFlight), "--ef", String.valueOf(ef)));
        words.addAll(List.of("--seconds", String.valueOf(seconds)));
        Process process = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Thread ender = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(ender);
        try {
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            String line = printed.lines()
                    .filter(one -> one.startsWith("{"))
                    .findFirst()
                    .orElse("");
            if (status != 0 || line.isEmpty()) {
                throw new CommandFailure("a process of the benchmark failed with status " + status);
            }
            return mapper.readValue(line, FirstSeconds.class);
        } finally {
            process.destroy();
            RoostProcess.removeHook(ender);
        }
    }

    private void print(Map<String, List<FirstSeconds>> runs) throws IOException {
        json.line("%,d x %d, ef %d, %d in flight; medians of %d runs".formatted(rows, dimension, ef, inFlight, rounds));
        json.line(
                "           open, ms  first, ms   90 %, ms (min to max)  settled/s   share of settled in the 100 ms from second"
                        + " ...");
        json.line(" ".repeat(73)
                + String.join(
                        " ",
                        shown().mapToObj(slot -> "%5.1f".formatted(slot * .1)).toList()));
        runs.forEach((kind, all) -> {
            Samples nearly = Samples.of(
                    all.stream().map(FirstSeconds::nearlySettledMillis).toList());
            json.line("%-10s %8.0f %10.1f %10.0f (%.0f to %.0f) %10.0f   %s"
                    .formatted(
                            kind,
                            median(all, FirstSeconds::openMillis),
                            median(all, FirstSeconds::firstMillis),
                            nearly.median(),
                            nearly.least(),
                            nearly.most(),
                            median(all, FirstSeconds::settled) * 1_000 / FirstSeconds.SLOT_MILLIS,
                            String.join(
                                    " ",
                                    shown().mapToObj(slot -> String.format(
                                                    Locale.ROOT, "%5.2f", median(all, run -> run.share(slot))))
                                            .toList())));
        });
        json.print(runs);
    }

    private IntStream shown() {
        int slots = seconds * 1_000 / FirstSeconds.SLOT_MILLIS;
        return IntStream.of(SHOWN).filter(slot -> slot < slots);
    }

    private static double median(List<FirstSeconds> runs, ToDoubleFunction<FirstSeconds> figure) {
        return Samples.of(runs.stream().map(figure::applyAsDouble).toList()).median();
    }
}
