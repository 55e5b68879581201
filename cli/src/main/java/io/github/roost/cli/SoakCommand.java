package io.github.roost.cli;

import io.github.roost.bench.soak.Soak;
import io.github.roost.bench.soak.Soak.Report;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost soak}: injects random faults of every kind and checks that nothing is lost. */
@Command(
        name = "soak",
        description = {
            "Injects random faults of every kind, half the time on this machine and half on 96 unpinned workers.",
            "Exits with 1 if anything was lost, completed twice or left behind."
        })
final class SoakCommand implements Callable<Integer> {
    private static final String CHIPLETS = "pack:1 l3:12 core:8 pu:1";

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--seconds", paramLabel = "N", description = "Duration; default 600.")
    private int seconds = 600;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the random operations; default the time.")
    private long seed = System.nanoTime();

    SoakCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() {
        BenchCommand.require("--seconds", seconds, 1, 1_000_000);
        streams.out().println("seed " + seed);
        boolean well = true;
        for (Topology machine : List.of(
                TopologyReader.live().read(), TopologyReader.synthetic(CHIPLETS).read())) {
            Report report = new Soak(machine, seed).run(Duration.ofMillis(500L * seconds));
            streams.out()
                    .println("%d workers: %d orchestrators, %d futures of %d tasks, %d refused, %d remaps, %s"
                            .formatted(
                                    report.workers(),
                                    report.cycles(),
                                    report.futures(),
                                    report.tasks(),
                                    report.refused(),
                                    report.remaps(),
                                    report.violations().isEmpty()
                                            ? "nothing lost"
                                            : report.violations().size() + " violations"));
            report.violations().forEach(streams.out()::println);
            well &= report.violations().isEmpty();
        }
        return well ? 0 : 1;
    }
}
