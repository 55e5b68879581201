package io.github.roost.bench.scheduling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/**
 * Question: what share of the throughput of short tasks is left when they report traffic? Baseline: tasks on the same
 * orchestrator in the same JVM that report none.
 *
 * <p>A round is {@value #SLICES} slices, of which each kind has half, in the order of Thue and Morse (A B B A B A A B ...): neither
 * a machine that is slow for a while nor one that slows down steadily or ever faster falls on one kind alone. Of all bursts of
 * a kind, only those count that are neither among the fastest tenth nor the slowest four: where other programs run on the same
 * cores, a burst now and then waits for milliseconds, and the throughput of everything has ten times the spread.
 */
public final class ReportingCost {
    private static final int SLICES = 128;
    private static final double FASTEST = .1;
    private static final double SLOWEST = .4;

    private final int submitters;
    private final long tokens;
    private final Duration slice;

    /**
     * @param taskMicros CPU time of a task, in microseconds
     * @param submitters how many threads hand in bursts of tasks
     * @param slice how long each kind runs at a time
     */
    public ReportingCost(int taskMicros, int submitters, Duration slice) {
        this.submitters = submitters;
        this.tokens = Throughput.tokens(taskMicros);
        this.slice = slice;
    }

    /** Throughput with reports over that without, of each round. */
    public List<Double> run(int rounds) {
        List<Double> ratios = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(submitters);
                RoostPool reporting = RoostPool.open()) {
            RoostPool silent = reporting.withoutReports();
            // Two unmeasured, for the compiler.
            for (int round = -2; round < rounds; round++) {
                double ratio = round(threads, reporting, silent, round);
                if (round >= 0) {
                    ratios.add(ratio);
                }
            }
        }
        return ratios;
    }

    private double round(ExecutorService threads, RoostPool reporting, RoostPool silent, int round) {
        LongStream.Builder with = LongStream.builder();
        LongStream.Builder without = LongStream.builder();
        for (int turn = 0; turn < SLICES; turn++) {
            if ((Integer.bitCount(turn) + round) % 2 == 0) {
                slice(threads, reporting, with);
            } else {
                slice(threads, silent, without);
            }
        }
        return undisturbed(without) / undisturbed(with);
    }

    /** Adds the nanoseconds of each burst. */
    private void slice(ExecutorService threads, RoostPool pool, LongStream.Builder nanos) {
        List<Future<LongStream>> shares = new ArrayList<>();
        for (int i = 0; i < submitters; i++) {
            shares.add(threads.submit(() -> bursts(pool)));
        }
        for (Future<LongStream> share : shares) {
            get(share).forEach(nanos);
        }
    }

    private LongStream bursts(RoostPool pool) {
        LongStream.Builder nanos = LongStream.builder();
        long end = System.nanoTime() + slice.toNanos();
        long now = System.nanoTime();
        do {
            long began = now;
            Burst.through(pool, tokens);
            now = System.nanoTime();
            nanos.add(now - began);
        } while (now < end);
        return nanos.build();
    }

    /** The mean of what is left when the fastest and the slowest are taken away; there is always at least one. */
    private static double undisturbed(LongStream.Builder nanos) {
        long[] sorted = nanos.build().sorted().toArray();
        int from = (int) (FASTEST * sorted.length);
        int to = Math.max(from + 1, (int) ((1 - SLOWEST) * sorted.length));
        return Arrays.stream(sorted, from, to).average().orElseThrow();
    }

    private static LongStream get(Future<LongStream> share) {
        try {
            return share.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a burst could not be handed in: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while bursts were on their way", e);
        }
    }
}
