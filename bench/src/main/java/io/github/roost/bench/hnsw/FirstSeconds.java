package io.github.roost.bench.hnsw;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The searches of a process from its first one on, in slots of {@value #SLOT_MILLIS} ms. Run once per JVM: the second run finds compiled code.
 *
 * @param openMillis time to open the table
 * @param firstMillis time from the submission of the first search to its result
 * @param slots completed searches per slot, the first slot beginning with the submission of the first search
 */
public record FirstSeconds(double openMillis, double firstMillis, long[] slots) {
    /** Length of a slot. */
    public static final int SLOT_MILLIS = 100;

    private static final int K = 10;
    private static final int QUERIES = 1_000;
    /** A single slot may be slow or fast by chance. */
    private static final int SLOTS_IN_A_ROW = 3;

    private static final double NEARLY = .9;

    /** Saves a table of rows of a mixture. */
    public static void save(Path file, Topology topology, int rows, int dimension) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        float[][] vectors = mixture(rows, dimension).draw(rows, random);
        try (Orchestrator orchestrator =
                        Orchestrator.builder().recallShare(0).topology(topology).build();
                HnswTable table = HnswTable.builder().name("first").build(orchestrator, vectors)) {
            table.save(file);
        }
    }

    private static Mixture mixture(int rows, int dimension) {
        return Mixture.of(Math.max(1, rows / 50), dimension, new SplittableRandom(0));
    }

    /**
     * Opens a table that {@link #save} has saved, and searches it in a closed loop.
     *
     * @param rows as saved
     * @param dimension as saved
     */
    public static FirstSeconds measure(
            Path file, Topology topology, int rows, int dimension, int inFlight, int ef, Duration time)
            throws IOException, InterruptedException {
        float[][] queries = mixture(rows, dimension).draw(QUERIES, new SplittableRandom(2));
        AtomicLongArray slots = new AtomicLongArray((int) (time.toMillis() / SLOT_MILLIS));
        AtomicLong first = new AtomicLong(Long.MAX_VALUE);
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build()) {
            long opening = System.nanoTime();
            try (HnswTable table = HnswTable.open(orchestrator, "first", file)) {
                double openMillis = (System.nanoTime() - opening) / 1e6;
                long began = System.nanoTime();
                new ClosedLoop(inFlight)
                        .run(
                                Long.MAX_VALUE,
                                time,
                                number -> table.search(queries[(int) (number % QUERIES)], K, ef),
                                (number, found) -> {
                                    long after = System.nanoTime() - began;
                                    first.accumulateAndGet(after, Math::min);
                                    int slot = (int) (after / (SLOT_MILLIS * 1_000_000L));
                                    if (slot < slots.length()) {
                                        slots.incrementAndGet(slot);
                                    }
                                });
                return new FirstSeconds(openMillis, first.get() / 1e6, copy(slots));
            }
        }
    }

    private static long[] copy(AtomicLongArray slots) {
        long[] copy = new long[slots.length()];
        Arrays.setAll(copy, slots::get);
        return copy;
    }

    /** Searches per slot in the second half of the run. */
    public double settled() {
        return Samples.of(Arrays.stream(slots, slots.length / 2, slots.length)
                        .asDoubleStream()
                        .boxed()
                        .toList())
                .median();
    }

    /** The rate of a slot, as a share of the {@linkplain #settled settled} one. */
    public double share(int slot) {
        return slots[slot] / settled();
    }

    /**
     * Milliseconds from the first submission to the first three slots in a row whose mean is at least 90 % of the {@linkplain #settled settled} rate;
     * NaN if there are none, or no search settled.
     */
    public double nearlySettledMillis() {
        if (settled() == 0) {
            return Double.NaN;
        }
        for (int slot = 0; slot + SLOTS_IN_A_ROW <= slots.length; slot++) {
            double mean =
                    Arrays.stream(slots, slot, slot + SLOTS_IN_A_ROW).average().orElseThrow();
            if (mean >= NEARLY * settled()) {
                return slot * (double) SLOT_MILLIS;
            }
        }
        return Double.NaN;
    }
}
