package io.github.roost.bench.io;

import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.FolderOption;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoundOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many random 4-KiB blocks does one worker read per second, and how much CPU time does a read cost, at a given number of reads in
 * flight? Baseline: {@link java.nio.channels.FileChannel} with direct I/O, which needs one thread per read in flight.
 *
 * <p>All ways read the same file for one slice of time each, in an order that rotates from round to round. CPU time is of the whole process, so it
 * includes threads of the runtime and a worker's unsuccessful polls.
 */
@Command(
        name = "io",
        description =
                "Random 4-KiB reads of searches by io_uring, and by threads, compared with FileChannel and direct I/O.")
public final class IoBench implements Callable<Integer> {
    private static final int BLOCKS_PER_MIB = 256;
    private static final IdleStrategy LOOKS = IdleStrategy.spinThenPark(1_000);
    private static final Duration WARM_UP = Duration.ofMillis(20);

    private final @Mixin FolderOption folder = new FolderOption(FolderOption.TEMPORARY);

    @Option(names = "--mib", paramLabel = "N", description = "Size of the file; default 512.")
    private int mib = 512;

    @Option(names = "--depth", split = ",", paramLabel = "N", description = "Reads in flight; default 1,4,16.")
    private List<Integer> depths = List.of(1, 4, 16);

    private final @Mixin RoundOptions rounds = new RoundOptions(5, 300);
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Options.require("--mib", mib, 1, 1_000_000);
        rounds.check();
        for (int depth : depths) {
            Options.require("--depth", depth, 1, 128);
        }
        List<Outcome> outcomes;
        try (NumberedBlocks blocks = NumberedBlocks.in(folder.path(), mib * BLOCKS_PER_MIB)) {
            outcomes = run(blocks);
        }
        output.line(
                "depth  way            reads/s (min to max)       ratio to channel     CPU us/read   ratio       free"
                        + " time");
        List<Map<String, Object>> results = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            Outcome channel = outcomes.stream()
                    .filter(one -> one.way() == Way.CHANNEL && one.depth() == outcome.depth())
                    .findFirst()
                    .orElseThrow();
            results.add(result(outcome, channel));
        }
        output.print(Map.of("results", results));
        return 0;
    }

    private Map<String, Object> result(Outcome outcome, Outcome channel) {
        Samples readsRatio = Samples.ratios(outcome.readsPerSecond(), channel.readsPerSecond());
        Samples cpuRatio = Samples.ratios(outcome.cpuMicrosPerRead(), channel.cpuMicrosPerRead());
        output.format(
                "%5d  %-13s %26s   %20s   %9.1f   %20s   %s",
                outcome.depth(),
                Options.name(outcome.way()),
                Samples.of(outcome.readsPerSecond()).spread("%.0f"),
                readsRatio.spread("%.2f"),
                Samples.of(outcome.cpuMicrosPerRead()).median(),
                cpuRatio.spread("%.2f"),
                outcome.way() == Way.RING_FILLED
                        ? "%.0f %%"
                                .formatted(100 * Samples.of(outcome.freeShare()).median())
                        : "");
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("outcome", outcome);
        result.put("readsBesideChannel", readsRatio);
        result.put("cpuBesideChannel", cpuRatio);
        return result;
    }

    /** A way to read. */
    public enum Way {
        /** The baseline. */
        CHANNEL,
        /** A search on a ring; its worker polls for about 40 us before it sleeps. */
        RING,
        /** A search on a ring; its worker sleeps whenever it has nothing to do. */
        RING_SLEEPING,
        /** A search on a ring; its worker runs steps of 5 us of other work while its reads are in flight. */
        RING_FILLED,
        /** A search whose reads are run by threads, the fallback if the kernel refuses rings. */
        POSITIONAL
    }

    /**
     * The results of one way at one depth, per round.
     *
     * @param way of reading
     * @param depth reads in flight
     * @param readsPerSecond per round
     * @param cpuMicrosPerRead of the process, per round; for a filled ring without the other work
     * @param freeShare share of the wall time used by other work, per round
     */
    public record Outcome(
            Way way, int depth, List<Double> readsPerSecond, List<Double> cpuMicrosPerRead, List<Double> freeShare) {
        Outcome(Way way, int depth) {
            this(way, depth, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    /** Measures every way at every depth, after one unmeasured round for the JIT. */
    private List<Outcome> run(NumberedBlocks blocks) throws IOException, InterruptedException {
        List<Outcome> outcomes = new ArrayList<>();
        for (int depth : depths) {
            for (Way way : Way.values()) {
                outcomes.add(new Outcome(way, depth));
            }
        }
        for (int round = -1; round < rounds.count(); round++) {
            for (int i = 0; i < outcomes.size(); i++) {
                measure(blocks, outcomes.get(Math.floorMod(i + round, outcomes.size())), round >= 0);
            }
        }
        return outcomes;
    }

    private void measure(NumberedBlocks blocks, Outcome outcome, boolean counts)
            throws IOException, InterruptedException {
        try (Reader reader = open(blocks, outcome.way, outcome.depth)) {
            reader.read(WARM_UP);
            ProcessCpu cpuBefore = ProcessCpu.now();
            long before = System.nanoTime();
            Reader.Done done = reader.read(rounds.slice());
            double nanos = System.nanoTime() - before;
            double cpu = ProcessCpu.now().nanosSince(cpuBefore) - done.freeNanos();
            if (counts) {
                outcome.readsPerSecond.add(done.reads() * 1e9 / nanos);
                outcome.cpuMicrosPerRead.add(cpu / 1e3 / Math.max(1, done.reads()));
                outcome.freeShare.add(done.freeNanos() / nanos);
            }
        }
    }

    private static Reader open(NumberedBlocks blocks, Way way, int depth) throws IOException {
        return switch (way) {
            case CHANNEL -> new ChannelReader(blocks, depth);
            case RING -> new SearchReader(blocks, depth, Backend.BEST, LOOKS, false);
            case RING_SLEEPING -> new SearchReader(blocks, depth, Backend.BEST, IdleStrategy.spinThenPark(0), false);
            case RING_FILLED -> new SearchReader(blocks, depth, Backend.BEST, LOOKS, true);
            case POSITIONAL -> new SearchReader(blocks, depth, Backend.POSITIONAL, LOOKS, false);
        };
    }
}
