package io.github.roost.bench.scheduling;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Question: how many short tasks per second go through a pool? An operation is a round: the submitting threads take bursts
 * until the round has none left, and it lasts from the first submission to the end of the last task. If each submitting thread
 * were timed by itself, a pool that serves some of them late would look faster than its cores are. Baseline: {@code
 * ForkJoinPool} of the same parallelism.
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

    @Param("2")
    public int submitters;

    /** Bursts of {@value Burst#TASKS} tasks per round. */
    @Param("16")
    public int bursts;

    private Contender.TaskPool pool;
    private ExecutorService threads;

    @Setup
    public void open() {
        pool = contender.open();
        threads = Executors.newFixedThreadPool(submitters);
    }

    @TearDown
    public void close() {
        threads.close();
        pool.close();
    }

    @Benchmark
    public void round() throws InterruptedException {
        AtomicInteger left = new AtomicInteger(bursts);
        CountDownLatch ended = new CountDownLatch(submitters);
        for (int i = 0; i < submitters; i++) {
            threads.execute(() -> {
                while (left.getAndDecrement() > 0) {
                    Burst.through(pool, tokens);
                }
                ended.countDown();
            });
        }
        ended.await();
    }
}
