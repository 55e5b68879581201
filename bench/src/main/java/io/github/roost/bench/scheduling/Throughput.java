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

/** Runs {@link ThroughputBenchmark} for all contenders in turn, forwards and backwards, each in a JVM of its own. */
public final class Throughput {
    private final int warmUpSeconds;
    private final int measuredSeconds;

    /** Seconds that each contender runs in each round, unmeasured and measured. */
    public Throughput(int warmUpSeconds, int measuredSeconds) {
        this.warmUpSeconds = warmUpSeconds;
        this.measuredSeconds = measuredSeconds;
    }

    /**
     * What one contender did.
     *
     * @param tasksPerSecond of each round
     * @param bytesPerTask allocated for a task, of each round, what the benchmark itself allocates included
     */
    public record Outcome(List<Double> tasksPerSecond, List<Double> bytesPerTask) {
        Outcome() {
            this(new ArrayList<>(), new ArrayList<>());
        }
    }

    /**
     * What each contender did, in the order given.
     *
     * @param taskMicros CPU time of a task, in microseconds
     * @param submitters how many threads hand in tasks
     */
    public List<Outcome> run(List<Contender> contenders, int taskMicros, int submitters, int rounds) {
        long tokens = tokens(taskMicros);
        List<Outcome> outcomes =
                contenders.stream().map(contender -> new Outcome()).toList();
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < contenders.size(); turn++) {
                int index = round % 2 == 0 ? turn : contenders.size() - 1 - turn;
                RunResult result = run(options(contenders.get(index), tokens, submitters));
                Outcome outcome = outcomes.get(index);
                outcome.tasksPerSecond().add(result.getPrimaryResult().getScore());
                Result<?> allocated = result.getSecondaryResults().get("gc.alloc.rate.norm");
                outcome.bytesPerTask().add(allocated == null ? Double.NaN : allocated.getScore());
            }
        }
        return outcomes;
    }

    /**
     * What the future alone takes of a task's bytes: a {@link CompletableFuture}, which Roost's is, with a task in it.
     *
     * @return bytes of one
     */
    public static long futureBytes() {
        // The first time loads classes as well.
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

    private Options options(Contender contender, long tokens, int submitters) {
        return new OptionsBuilder()
                .include("^" + ThroughputBenchmark.class.getName().replace(".", "\\.") + "\\.burst$")
                .param("contender", contender.name())
                .param("tokens", Long.toString(tokens))
                .threads(submitters)
                .forks(1)
                // Without these the JVMs complain, one about JMH, the other about native calls.
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

    /** JMH's tokens in so many microseconds of this machine: measured once, so that all contenders get the same work. */
    static long tokens(int micros) {
        return Tokens.PER_MICRO * micros;
    }

    private static final class Tokens {
        static final long PER_MICRO = measure();

        private static long measure() {
            long tokens = 10_000_000;
            long[] nanos = new long[7];
            for (int i = 0; i < nanos.length; i++) {
                long begin = System.nanoTime();
                Blackhole.consumeCPU(tokens);
                nanos[i] = System.nanoTime() - begin;
            }
            return Math.max(1, tokens * 1_000 / Arrays.stream(nanos).min().orElseThrow());
        }
    }
}
