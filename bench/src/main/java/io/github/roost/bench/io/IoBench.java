package io.github.roost.bench.io;

import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.io.BlockIo.Backend;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Question: how many random 4-KiB blocks does one worker read per second, and how much CPU time does a read cost, at a given number of reads in
 * flight? Baseline: {@link java.nio.channels.FileChannel} with direct I/O, which needs one thread per read in flight.
 *
 * <p>All ways read the same file for one slice of time each, in an order that rotates from round to round. CPU time is of the whole process, so it
 * includes threads of the runtime and a worker's unsuccessful polls.
 */
public final class IoBench {
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

    /** Measures every way at every depth, after one unmeasured round for the JIT. */
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
