package io.github.roost.examples.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.Samples;
import io.github.roost.bench.locality.GateBench;
import io.github.roost.bench.locality.GateBench.Outcome;
import io.github.roost.core.dispatch.CrossDomainGate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench gate}: when a task should cross domains. */
@Command(
        name = "gate",
        description =
                "Thresholds of the cross-domain gate, under bursts (crossing harms) and a flood (crossing helps).")
final class GateCommand implements Callable<Integer> {
    private static final List<Integer> BACKLOGS = List.of(1, 2, 4, 8);
    private static final List<Integer> SUSTAINED_MICROS = List.of(0, 50, 200, 1_000, 5_000);

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final LevelOption level = new LevelOption();

    @Option(names = "--table-kib", paramLabel = "N", description = "Size of each table; default 750.")
    private int tableKib = 750;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all gates; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time of each under each load; default 200.")
    private int sliceMillis = 200;

    @Mixin
    private final JsonOption json;

    GateCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException {
        BenchCommand.require("--table-kib", tableKib, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        List<CrossDomainGate> gates = BACKLOGS.stream()
                .flatMap(backlog -> SUSTAINED_MICROS.stream()
                        .map(micros -> new CrossDomainGate(
                                backlog, Duration.ofNanos(1_000L * micros).toNanos())))
                .toList();
        List<Outcome> outcomes = measure(gates);
        json.line("backlog  sustained us   bursts: p99 us (least to most)   crossed      flood: searches/s");
        for (Outcome outcome : outcomes) {
            json.line("%7d  %12d   %8.0f (%.0f to %.0f)   %10.1f %%   %10.0f (%.0f to %.0f)"
                    .formatted(
                            outcome.gate().backlogPerWorker(),
                            outcome.gate().sustainedNanos() / 1_000,
                            Samples.of(outcome.burstP99Micros()).median(),
                            Samples.of(outcome.burstP99Micros()).least(),
                            Samples.of(outcome.burstP99Micros()).most(),
                            100 * Samples.of(outcome.burstCrossShare()).median(),
                            Samples.of(outcome.floodPerSecond()).median(),
                            Samples.of(outcome.floodPerSecond()).least(),
                            Samples.of(outcome.floodPerSecond()).most()));
        }
        json.print(Map.of("gates", outcomes));
        return 0;
    }

    private List<Outcome> measure(List<CrossDomainGate> gates) {
        try {
            return new GateBench(level.machine(), tableKib << 10, Duration.ofMillis(sliceMillis)).run(gates, rounds);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }
}
