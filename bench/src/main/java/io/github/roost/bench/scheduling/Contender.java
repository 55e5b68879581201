package io.github.roost.bench.scheduling;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/** A pool under comparison, with a worker for each core that this process may use. */
public enum Contender {
    /** Roost with its defaults, but that full rings hold the submitter up. */
    ROOST {
        @Override
        TaskPool open() {
            return RoostPool.open();
        }
    },
    /** {@link ForkJoinPool} as its constructor makes it. */
    FORK_JOIN {
        @Override
        TaskPool open() {
            return new JdkPool(new ForkJoinPool(Runtime.getRuntime().availableProcessors()));
        }
    },
    /** {@link Executors#newFixedThreadPool}. */
    FIXED {
        @Override
        TaskPool open() {
            return new JdkPool(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors()));
        }
    };

    /** Starts it. Tasks report traffic where there is something to report it to. */
    abstract TaskPool open();

    /** Takes tasks that yield a future. Thread-safe. */
    interface TaskPool extends AutoCloseable {
        Future<?> submit(Runnable task);

        @Override
        void close();
    }

    /** A pool of the JDK; its own submit makes its own, smallest future. */
    private record JdkPool(ExecutorService pool) implements TaskPool {
        @Override
        public Future<?> submit(Runnable task) {
            return pool.submit(task);
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}
