package io.github.roost.examples.cli;

import io.github.roost.bench.versions.VersionSimulation;
import io.github.roost.bench.versions.VersionSimulation.Outcome;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench versions}: batches of a table whose versions are rolled out, in virtual time. */
@Command(
        name = "versions",
        description = "Simulates batches while versions are rolled out, servers killed and messages lost: how many mix"
                + " versions?")
final class VersionsCommand implements Callable<Integer> {
    private static final int MOST_BATCHES = 1_000_000_000;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--batches", paramLabel = "N", description = "Batches to simulate; default 10000000.")
    private int batches = 10_000_000;

    @Option(names = "--seed", paramLabel = "N", description = "Of all that is random; default 28.")
    private long seed = 28;

    @Mixin
    private final JsonOption json;

    VersionsCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--batches", batches, 1, MOST_BATCHES);
        Outcome outcome = VersionSimulation.run(seed, batches);
        json.line("%,d batches, %,d answered in time, %,d of mixed versions; %.3f attempts per batch"
                .formatted(
                        outcome.batches(),
                        outcome.answered(),
                        outcome.mixed(),
                        outcome.attempts() / (double) outcome.batches()));
        json.line("naive: %,d answered, %,d of mixed versions, %.2f %%"
                .formatted(
                        outcome.naive(),
                        outcome.naiveMixed(),
                        100.0 * outcome.naiveMixed() / Math.max(1, outcome.naive())));
        json.line("%,d versions rolled out, %,d servers killed, %,d steps of former coordinators refused"
                .formatted(outcome.rolls(), outcome.kills(), outcome.fencedOff()));
        json.line("looks at which no version was complete: %,d; most memory: %.2f times one version each"
                .formatted(outcome.incomplete(), outcome.mostMemory()));
        json.print(Map.of("versions", outcome));
        return 0;
    }
}
