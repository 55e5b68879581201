package io.github.roost.bench.scheduling;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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
import org.openjdk.jmh.infra.Blackhole;

/**
 * Question: how many short tasks a second go through a pool? Every submitting thread hands in {@value #BURST} tasks and
 * waits until all are done. Baseline: {@code ForkJoinPool} of the same parallelism. The tasks count down themselves, so
 * that no pool's way to wait for a future is measured.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the set-up
public class ThroughputBenchmark {
    /** Small enough that 8 submitters never fill the rings of two workers. */
    static final int BURST = 128;

    @Param
    public Contender contender;

    /** CPU time of a task in JMH's tokens. */
    @Param("0")
    public long tokens;

    /** Whether tasks report that they touched something, where the contender counts that. */
    @Param("true")
    public boolean touching;

    private Contender.TaskPool pool;

    @Setup
    public void open() {
        pool = contender.open(touching);
    }

    @TearDown
    public void close() {
        pool.close();
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void burst() {
        Burst burst = new Burst(Thread.currentThread(), tokens);
        for (int i = 0; i < BURST; i++) {
            var _ = pool.submit(burst);
        }
        burst.await();
    }

    private static final class Burst implements Runnable {
        private final Thread submitter;
        private final long tokens;
        private final AtomicInteger left = new AtomicInteger(BURST);

        Burst(Thread submitter, long tokens) {
            this.submitter = submitter;
            this.tokens = tokens;
        }

        @Override
        public void run() {
            if (tokens > 0) {
                Blackhole.consumeCPU(tokens);
            }
            if (left.decrementAndGet() == 0) {
                LockSupport.unpark(submitter);
            }
        }

        void await() {
            while (left.get() > 0) {
                LockSupport.park(this);
            }
        }
    }
}
