package io.github.roost.bench.scheduling;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/** A thread pool under comparison, with one worker per core that this process may use. */
public enum Contender {
    /** Roost with its defaults, except that submitters block while rings are full. */
    ROOST {
        @Override
        TaskPool open() {
            return RoostPool.open();
        }
    },
    /** {@link ForkJoinPool} with the defaults of its constructor. */
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

    /** Starts the pool. Its tasks report traffic if the pool supports that. */
    abstract TaskPool open();

    /** Runs tasks and returns a future for each. Thread-safe. */
    interface TaskPool extends AutoCloseable {
        Future<?> submit(Runnable task);

        @Override
        void close();
    }

    /** A pool of the JDK; its own {@code submit} creates its smallest future. */
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
