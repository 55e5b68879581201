package io.github.roost.bench.scheduling;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.infra.Blackhole;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs {@link ThroughputBenchmark} for all contenders in turn, in reversed order every other round, each in its own
 * JVM.
 */
public final class Throughput {
    /** Bursts per submitting thread and round: enough that the start and the end of a round do not count. */
    private static final int MAX_BURSTS = 64;

    private static final int MIN_BURSTS = 8;
    /** Bursts of a round times microseconds per task: rounds of longer tasks have fewer bursts. */
    private static final int BURST_MICROS = 160;

    private final int warmUpSeconds;
    private final int measuredSeconds;

    /**
     * Creates a benchmark; measures nothing yet.
     *
     * @param warmUpSeconds unmeasured seconds per contender and round
     * @param measuredSeconds measured seconds per contender and round
     */
    public Throughput(int warmUpSeconds, int measuredSeconds) {
        this.warmUpSeconds = warmUpSeconds;
        this.measuredSeconds = measuredSeconds;
    }

    /**
     * The result of one contender.
     *
     * @param tasksPerSecond per round
     * @param bytesPerTask allocated bytes per task, per round, including the benchmark's own
     */
    public record Outcome(List<Double> tasksPerSecond, List<Double> bytesPerTask) {
        Outcome() {
            this(new ArrayList<>(), new ArrayList<>());
        }
    }

    /**
     * Measures the contenders; returns their results in the given order.
     *
     * @param taskMicros CPU time per task, in microseconds
     * @param submitters threads that submit tasks
     */
    public List<Outcome> run(List<Contender> contenders, int taskMicros, int submitters, int rounds) {
        long tokens = tokens(taskMicros);
        int bursts = submitters * Math.clamp(BURST_MICROS / Math.max(1, taskMicros), MIN_BURSTS, MAX_BURSTS);
        double tasks = (double) bursts * Burst.TASKS;
        List<Outcome> outcomes =
                contenders.stream().map(contender -> new Outcome()).toList();
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < contenders.size(); turn++) {
                int index = round % 2 == 0 ? turn : contenders.size() - 1 - turn;
                RunResult result = run(options(contenders.get(index), tokens, submitters, bursts));
                Outcome outcome = outcomes.get(index);
                outcome.tasksPerSecond().add(tasks * result.getPrimaryResult().getScore());
                Result<?> allocated = result.getSecondaryResults().get("gc.alloc.rate.norm");
                outcome.bytesPerTask().add(allocated == null ? Double.NaN : allocated.getScore() / tasks);
            }
        }
        return outcomes;
    }

    /**
     * The part of a task's allocated bytes that is its future: Roost's futures are {@link CompletableFuture}s.
     *
     * @return bytes per empty {@code CompletableFuture}
     */
    public static long futureBytes() {
        // The first call also loads classes.
        var _ = allocateFutures();
        return allocateFutures();
    }

    private static long allocateFutures() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        CompletableFuture<?>[] futures = new CompletableFuture<?>[10_000];
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < futures.length; i++) {
            futures[i] = new CompletableFuture<>();
        }
        return (threads.getCurrentThreadAllocatedBytes() - before) / futures.length;
    }

    private Options options(Contender contender, long tokens, int submitters, int bursts) {
        return new OptionsBuilder()
                .include("^" + ThroughputBenchmark.class.getName().replace(".", "\\.") + "\\.round$")
                .param("contender", contender.name())
                .param("tokens", Long.toString(tokens))
                .param("submitters", Integer.toString(submitters))
                .param("bursts", Integer.toString(bursts))
                .threads(1)
                .forks(1)
                // Without these options the JVMs print warnings, about JMH's use of Unsafe and about native access.
                .jvmArgs("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")
                .warmupIterations(1)
                .warmupTime(TimeValue.seconds(warmUpSeconds))
                .measurementIterations(1)
                .measurementTime(TimeValue.seconds(measuredSeconds))
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .build();
    }

    private static RunResult run(Options options) {
        try {
            return new Runner(options).runSingle();
        } catch (RunnerException e) {
            throw new IllegalStateException("the benchmark did not run: " + e.getMessage(), e);
        }
    }

    /**
     * JMH's tokens in {@code micros} microseconds of this machine; measured once, so that all contenders get the same
     * work.
     */
    static long tokens(int micros) {
        return Tokens.PER_MICRO * micros;
    }

    private static final class Tokens {
        static final long PER_MICRO = measure();

        private static long measure() {
            // Short runs, so that on a shared machine at least one is not interrupted.
            long tokens = 500_000;
            long[] nanos = new long[200];
            for (int i = 0; i < nanos.length; i++) {
                long begin = System.nanoTime();
                Blackhole.consumeCPU(tokens);
                nanos[i] = System.nanoTime() - begin;
            }
            return Math.max(1, tokens * 1_000 / Arrays.stream(nanos).min().orElseThrow());
        }
    }
}
