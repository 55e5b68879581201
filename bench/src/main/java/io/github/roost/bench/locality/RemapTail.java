package io.github.roost.bench.locality;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Registration;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: does a remap delay searches? Windows come in threes: in the first one the hot tables share a home, the
 * second one begins with the remap that separates them, in the third one nothing changes. The latencies of the second
 * window are compared with the third.
 */
@Command(
        name = "remap",
        description = "Latencies in windows that begin with a remap, compared with equal windows without a remap.")
public final class RemapTail implements Callable<Integer> {
    private static final long LONGEST_NANOS = 10_000_000_000L;
    private static final int TABLE_BYTES = 64 << 10;
    private static final int HOT_TABLES = 4;
    private static final int CHAINS = 2;

    private final @Mixin LevelOption level = new LevelOption();

    @Option(names = "--ids", paramLabel = "N", description = "Number of mapping ids; default 1000.")
    private int ids = 1_000;

    @Option(names = "--times", paramLabel = "N", description = "Number of remaps, three windows each; default 20.")
    private int times = 20;

    private final @Mixin NumberOption windowMillis = NumberOption.windowMillis(300, 60_000);
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws JsonProcessingException {
        Options.require("--ids", ids, 1, 131_000);
        Options.require("--times", times, 1, 100_000);
        NumberOption.check(windowMillis);
        Outcome outcome = run(level.severalDomains());
        output.line("latency, us          windows       p50       p99      p999");
        print("with a remap", outcome.remaps(), outcome.withRemap());
        print("without", outcome.others(), outcome.without());
        output.format(
                "p999 with over without: %.2f",
                (double) outcome.withRemap().getValueAtPercentile(99.9)
                        / outcome.without().getValueAtPercentile(99.9));
        output.print(Map.of(
                "remaps", outcome.remaps(),
                "withRemap", Latencies.ofNanos(outcome.withRemap()),
                "others", outcome.others(),
                "without", Latencies.ofNanos(outcome.without())));
        return 0;
    }

    private void print(String kind, int count, Histogram nanos) {
        output.format(
                "%-18s %9d %9.0f %9.0f %9.0f",
                kind,
                count,
                nanos.getValueAtPercentile(50) / 1e3,
                nanos.getValueAtPercentile(99) / 1e3,
                nanos.getValueAtPercentile(99.9) / 1e3);
    }

    /**
     * Latencies in nanoseconds.
     *
     * @param withRemap in windows that began with a remap
     * @param remaps number of those windows
     * @param without in comparable windows without a remap
     * @param others number of those windows
     */
    public record Outcome(Histogram withRemap, int remaps, Histogram without, int others) {}

    /** Runs the windows. */
    private Outcome run(Topology topology) {
        Histogram withRemap = new Histogram(LONGEST_NANOS, 3);
        Histogram without = new Histogram(LONGEST_NANOS, 3);
        int remaps = 0;
        int others = 0;
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .windows(Duration.ofHours(1), Duration.ofHours(1))
                .build()) {
            int domains = topology.domains().size();
            orchestrator.register("many", Math.max(1, ids - HOT_TABLES * domains));
            List<Registration> tables = new ArrayList<>();
            for (int table = 0; table < HOT_TABLES * domains; table++) {
                tables.add(orchestrator.register("table-" + table));
            }
            List<Registration> hot = List.of();
            // The first three windows are the warm-up for the JIT.
            for (int number = -3; number < 3 * times; number++) {
                boolean remapped = orchestrator.indexing().endWindow();
                boolean first = Math.floorMod(number, 3) == 0;
                hot = first ? neighbors(orchestrator, tables) : hot;
                Histogram latencies = oneWindow(orchestrator, hot);
                if (number >= 0 && !first) {
                    (remapped ? withRemap : without).add(latencies);
                    remaps += remapped ? 1 : 0;
                    others += remapped ? 0 : 1;
                }
            }
        }
        return new Outcome(withRemap, remaps, without, others);
    }

    /** Tables that share a home; there are enough tables that some domain has enough of them. */
    private static List<Registration> neighbors(Orchestrator orchestrator, List<Registration> tables) {
        return tables.stream().collect(Collectors.groupingBy(table -> orchestrator.homes(table.id()))).values().stream()
                .max(Comparator.comparingInt(List::size))
                .orElseThrow()
                .stream()
                .limit(HOT_TABLES)
                .toList();
    }

    private Histogram oneWindow(Orchestrator orchestrator, List<Registration> hot) {
        Recorder recorder = new Recorder(LONGEST_NANOS, 3);
        long end = System.nanoTime() + windowMillis.value() * 1_000_000L;
        List<CompletableFuture<Void>> chains = new ArrayList<>();
        for (Registration table : hot) {
            TableLoad load = new TableLoad(orchestrator, table, TABLE_BYTES, end, recorder::recordValue);
            for (int chain = 0; chain < CHAINS; chain++) {
                chains.add(load.start(chain));
            }
        }
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
        chains.forEach(CompletableFuture::join);
        return recorder.getIntervalHistogram();
    }
}
