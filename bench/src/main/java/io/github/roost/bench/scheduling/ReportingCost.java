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
 * Question: what share of the throughput of short tasks remains if they report traffic? Baseline: tasks on the same orchestrator in the same JVM
 * that do not report.
 *
 * <p>A round is {@value #SLICES} slices, half of each kind, in the Thue-Morse order (A B B A B A A B ...): neither a temporary slowdown of the
 * machine nor a steady or accelerating one falls on one kind alone. The mean of each kind excludes the fastest tenth and the slowest four tenths of
 * its bursts: if other programs run on the same cores, a burst sometimes waits for milliseconds, and the spread of all throughputs is ten times as
 * large.
 */
public final class ReportingCost {
    private static final int SLICES = 128;
    private static final double FASTEST = .1;
    private static final double SLOWEST = .4;

    private final int submitters;
    private final long tokens;
    private final Duration slice;

    /**
     * @param taskMicros CPU time per task, in microseconds
     * @param submitters threads that submit bursts of tasks
     * @param slice how long each kind runs at a time
     */
    public ReportingCost(int taskMicros, int submitters, Duration slice) {
        this.submitters = submitters;
        this.tokens = Throughput.tokens(taskMicros);
        this.slice = slice;
    }

    /** Throughput with reports over throughput without, per round. */
    public List<Double> run(int rounds) {
        List<Double> ratios = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(submitters);
                RoostPool reporting = RoostPool.open()) {
            RoostPool silent = reporting.withoutReports();
            // Two unmeasured rounds for the JIT.
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

    /** Runs bursts for a slice and adds the nanoseconds of each. */
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

    /** The trimmed mean, without the fastest and the slowest; at least one value is kept. */
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
            throw new IllegalStateException("a burst could not be submitted: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while bursts were running", e);
        }
    }
}
