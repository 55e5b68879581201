package io.github.roost.cli;

import io.github.roost.bench.versions.VersionSimulation;
import io.github.roost.bench.versions.VersionSimulation.Outcome;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench versions}: simulates, in virtual time, batches of a table whose versions are rolled out. */
@Command(
        name = "versions",
        description =
                "Simulates batches while versions are rolled out, servers and coordinators are killed and messages are lost, and"
                        + " counts batches of mixed versions.")
final class VersionsCommand implements Callable<Integer> {
    private static final int MAX_BATCHES = 1_000_000_000;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--batches", paramLabel = "N", description = "Batches to simulate; default 10000000.")
    private int batches = 10_000_000;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of all random choices; default 28.")
    private long seed = 28;

    @Mixin
    private final JsonOption json;

    VersionsCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--batches", batches, 1, MAX_BATCHES);
        Outcome outcome = VersionSimulation.run(seed, batches);
        json.line(
                "%,d batches, %,d answered in time (%.4f %%), %,d of mixed versions; %.3f attempts per batch, %,d hedges"
                        .formatted(
                                outcome.batches(),
                                outcome.answered(),
                                100.0 * outcome.answered() / outcome.batches(),
                                outcome.mixed(),
                                outcome.attempts() / (double) outcome.batches(),
                                outcome.hedges()));
        json.line("naive: %,d answered, %,d of mixed versions, %.2f %%"
                .formatted(
                        outcome.naive(),
                        outcome.naiveMixed(),
                        100.0 * outcome.naiveMixed() / Math.max(1, outcome.naive())));
        json.line(
                "%,d versions rolled out; %,d servers and %,d coordinators killed, %,d replaced; %,d orders of former coordinators refused, %,d executed"
                        .formatted(
                                outcome.rolls(),
                                outcome.kills(),
                                outcome.coordinators(),
                                outcome.rivals(),
                                outcome.fencedOff(),
                                outcome.outOfTurn()));
        json.line("changes after which no version was complete: %,d; max memory: %.2f times one version per server"
                .formatted(outcome.incomplete(), outcome.maxMemory()));
        json.line("");
        json.line("killed or replaced processes, by phase of a roll");
        outcome.byPhase().forEach((phase, victims) -> json.line("  %-22s %s".formatted(phase, victims)));
        json.line("");
        outcome.messages()
                .forEach(kind -> json.line("%s: %,d sent, %,d lost, %,d doubled, %,d late"
                        .formatted(kind.kind(), kind.sent(), kind.lost(), kind.doubled(), kind.late())));
        json.print(Map.of("versions", outcome));
        return 0;
    }
}
