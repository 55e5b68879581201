package io.github.roost.bench.scheduling;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Question: how many short tasks per second go through a pool? Every submitting thread runs one {@link Burst} after the
 * other. Baseline: {@code ForkJoinPool} of the same parallelism.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the set-up
public class ThroughputBenchmark {
    @Param
    public Contender contender;

    /** CPU time per task in JMH's tokens. */
    @Param("0")
    public long tokens;

    private Contender.TaskPool pool;

    @Setup
    public void open() {
        pool = contender.open();
    }

    @TearDown
    public void close() {
        pool.close();
    }

    @Benchmark
    @OperationsPerInvocation(Burst.TASKS)
    public void burst() {
        Burst.through(pool, tokens);
    }
}
