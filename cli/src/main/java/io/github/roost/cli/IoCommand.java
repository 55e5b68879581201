package io.github.roost.cli;

import io.github.roost.bench.io.IoBench;
import io.github.roost.bench.io.IoBench.Outcome;
import io.github.roost.bench.io.IoBench.Way;
import io.github.roost.bench.io.NumberedBlocks;
import io.github.roost.simulator.measure.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench io}: block I/O, compared with the JDK's. */
@Command(
        name = "io",
        description =
                "Random 4-KiB reads of searches by io_uring, and by threads, compared with FileChannel and direct I/O.")
final class IoCommand implements Callable<Integer> {
    private static final int BLOCKS_PER_MIB = 256;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--folder", paramLabel = "DIR", description = "Folder for the file; default the temporary folder.")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--mib", paramLabel = "N", description = "Size of the file; default 512.")
    private int mib = 512;

    @Option(names = "--depth", split = ",", paramLabel = "N", description = "Reads in flight; default 1,4,16.")
    private List<Integer> depths = List.of(1, 4, 16);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all ways; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per measurement; default 300.")
    private int sliceMillis = 300;

    @Mixin
    private final JsonOption json;

    IoCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--mib", mib, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        for (int depth : depths) {
            BenchCommand.require("--depth", depth, 1, 128);
        }
        List<Outcome> outcomes;
        try (NumberedBlocks blocks = NumberedBlocks.in(folder, mib * BLOCKS_PER_MIB)) {
            outcomes = new IoBench(blocks, Duration.ofMillis(sliceMillis)).run(depths, rounds);
        }
        json.line(
                "depth  way            reads/s (min to max)       ratio to channel     CPU us/read   ratio       free time");
        List<Map<String, Object>> results = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            Outcome channel = outcomes.stream()
                    .filter(one -> one.way() == Way.CHANNEL && one.depth() == outcome.depth())
                    .findFirst()
                    .orElseThrow();
            results.add(result(outcome, channel));
        }
        json.print(Map.of("results", results));
        return 0;
    }

    private Map<String, Object> result(Outcome outcome, Outcome channel) {
        Samples reads = Samples.of(outcome.readsPerSecond());
        Samples readsRatio = ratios(outcome.readsPerSecond(), channel.readsPerSecond());
        Samples cpu = Samples.of(outcome.cpuMicrosPerRead());
        Samples cpuRatio = ratios(outcome.cpuMicrosPerRead(), channel.cpuMicrosPerRead());
        Samples free = Samples.of(outcome.freeShare());
        json.line("%5d  %-13s %8.0f (%.0f to %.0f)   %5.2f (%.2f to %.2f)   %9.1f   %5.2f (%.2f to %.2f)   %s"
                .formatted(
                        outcome.depth(),
                        outcome.way().name().toLowerCase(Locale.ROOT),
                        reads.median(),
                        reads.least(),
                        reads.most(),
                        readsRatio.median(),
                        readsRatio.least(),
                        readsRatio.most(),
                        cpu.median(),
                        cpuRatio.median(),
                        cpuRatio.least(),
                        cpuRatio.most(),
                        outcome.way() == Way.RING_FILLED ? "%.0f %%".formatted(100 * free.median()) : ""));
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("outcome", outcome);
        result.put("readsBesideChannel", readsRatio);
        result.put("cpuBesideChannel", cpuRatio);
        return result;
    }

    /** Per round: a temporary slowdown of the machine affects both. */
    private static Samples ratios(List<Double> values, List<Double> baseline) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < values.size(); round++) {
            ratios.add(values.get(round) / baseline.get(round));
        }
        return Samples.of(ratios);
    }
}
