package io.github.roost.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.locality.RemapTail;
import io.github.roost.bench.locality.RemapTail.Outcome;
import io.github.roost.simulator.measure.Latencies;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench remap}: the effect of remaps on search latency. */
@Command(
        name = "remap",
        description = "Latencies in windows that begin with a remap, compared with equal windows without a remap.")
final class RemapCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final LevelOption level = new LevelOption();

    @Option(names = "--ids", paramLabel = "N", description = "Number of mapping ids; default 1000.")
    private int ids = 1_000;

    @Option(names = "--times", paramLabel = "N", description = "Number of remaps, three windows each; default 20.")
    private int times = 20;

    @Option(names = "--window-millis", paramLabel = "N", description = "Length of a window; default 300.")
    private int windowMillis = 300;

    @Mixin
    private final JsonOption json;

    RemapCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException {
        BenchCommand.require("--ids", ids, 1, 131_000);
        BenchCommand.require("--times", times, 1, 100_000);
        BenchCommand.require("--window-millis", windowMillis, 1, 60_000);
        Outcome outcome = measure();
        json.line("latency, us          windows       p50       p99      p999");
        print("with a remap", outcome.remaps(), outcome.withRemap());
        print("without", outcome.others(), outcome.without());
        json.line("p999 with over without: %.2f"
                .formatted((double) outcome.withRemap().getValueAtPercentile(99.9)
                        / outcome.without().getValueAtPercentile(99.9)));
        json.print(Map.of(
                "remaps", outcome.remaps(),
                "withRemap", Latencies.ofNanos(outcome.withRemap()),
                "others", outcome.others(),
                "without", Latencies.ofNanos(outcome.without())));
        return 0;
    }

    private void print(String kind, int count, Histogram nanos) {
        json.line("%-18s %9d %9.0f %9.0f %9.0f"
                .formatted(
                        kind,
                        count,
                        nanos.getValueAtPercentile(50) / 1e3,
                        nanos.getValueAtPercentile(99) / 1e3,
                        nanos.getValueAtPercentile(99.9) / 1e3));
    }

    private Outcome measure() {
        try {
            return new RemapTail(level.machine(), ids, Duration.ofMillis(windowMillis)).run(times);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }
}
