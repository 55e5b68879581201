package io.github.roost.bench.io;

import io.github.roost.core.io.BlockIo.Backend;
import io.github.roost.core.policy.IdleStrategy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Question: how many random 4-KiB blocks does one worker read in a second, and what CPU time does one cost, with so many reads under
 * way? Baseline: {@link java.nio.channels.FileChannel} with direct I/O, which needs a thread for each read under way.
 *
 * <p>All ways read the same file for a slice of time each, in an order that turns with the round. CPU time is that of the whole
 * process, so threads of the runtime and looks of a worker in vain are counted too.
 */
public final class IoBench {
    /** What reads. */
    public enum Way {
        /** The baseline. */
        CHANNEL,
        /** A search on a ring; its worker looks for some 40 us before it sleeps. */
        RING,
        /** A search on a ring, whose worker sleeps whenever there is nothing to do. */
        RING_SLEEPING,
        /** A search on a ring, whose worker does steps of 5 us of other work while its reads are under way. */
        RING_FILLED,
        /** A search whose reads are made by threads, as where the kernel refuses rings. */
        POSITIONAL
    }

    /**
     * What one way did at one depth, by round.
     *
     * @param way what read
     * @param depth reads under way
     * @param readsPerSecond of each round
     * @param cpuMicrosPerRead of the process, in each round; for a filled ring less the other work
     * @param freeShare of the wall time that other work has used, in each round
     */
    public record Outcome(
            Way way, int depth, List<Double> readsPerSecond, List<Double> cpuMicrosPerRead, List<Double> freeShare) {
        Outcome(Way way, int depth) {
            this(way, depth, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    private static final IdleStrategy LOOKS = IdleStrategy.spinThenPark(1_000);
    private static final Duration WARM_UP = Duration.ofMillis(20);

    private final NumberedBlocks blocks;
    private final Duration slice;

    /**
     * @param blocks the file
     * @param slice how long each way reads at a time
     */
    public IoBench(NumberedBlocks blocks, Duration slice) {
        this.blocks = blocks;
        this.slice = slice;
    }

    /** Every way at every depth, after an unmeasured round for the compiler. */
    public List<Outcome> run(List<Integer> depths, int rounds) throws IOException, InterruptedException {
        List<Outcome> outcomes = new ArrayList<>();
        for (int depth : depths) {
            for (Way way : Way.values()) {
                outcomes.add(new Outcome(way, depth));
            }
        }
        for (int round = -1; round < rounds; round++) {
            for (int i = 0; i < outcomes.size(); i++) {
                measure(outcomes.get(Math.floorMod(i + round, outcomes.size())), round >= 0);
            }
        }
        return outcomes;
    }

    private void measure(Outcome outcome, boolean counts) throws IOException, InterruptedException {
        try (Reader reader = open(outcome.way, outcome.depth)) {
            reader.read(WARM_UP);
            ProcessCpu cpuBefore = ProcessCpu.now();
            long before = System.nanoTime();
            Reader.Done done = reader.read(slice);
            double nanos = System.nanoTime() - before;
            double cpu = ProcessCpu.now().nanosSince(cpuBefore) - done.freeNanos();
            if (counts) {
                outcome.readsPerSecond.add(done.reads() * 1e9 / nanos);
                outcome.cpuMicrosPerRead.add(cpu / 1e3 / Math.max(1, done.reads()));
                outcome.freeShare.add(done.freeNanos() / nanos);
            }
        }
    }

    private Reader open(Way way, int depth) throws IOException {
        return switch (way) {
            case CHANNEL -> new ChannelReader(blocks, depth);
            case RING -> new SearchReader(blocks, depth, Backend.BEST, LOOKS, false);
            case RING_SLEEPING -> new SearchReader(blocks, depth, Backend.BEST, IdleStrategy.spinThenPark(0), false);
            case RING_FILLED -> new SearchReader(blocks, depth, Backend.BEST, LOOKS, true);
            case POSITIONAL -> new SearchReader(blocks, depth, Backend.POSITIONAL, LOOKS, false);
        };
    }
}
