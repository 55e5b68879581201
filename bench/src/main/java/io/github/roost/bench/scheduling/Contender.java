package io.github.roost.bench.scheduling;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchFunction;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/** A pool under comparison, with a worker for each core that this process may use. */
public enum Contender {
    /** Roost with its defaults, but that full rings hold the submitter up. */
    ROOST {
        @Override
        TaskPool open(boolean touching) {
            return new RoostPool(touching);
        }
    },
    /** {@link ForkJoinPool} as its constructor makes it. */
    FORK_JOIN {
        @Override
        TaskPool open(boolean touching) {
            return new JdkPool(new ForkJoinPool(Runtime.getRuntime().availableProcessors()));
        }
    },
    /** {@link Executors#newFixedThreadPool}. */
    FIXED {
        @Override
        TaskPool open(boolean touching) {
            return new JdkPool(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors()));
        }
    };

    /** @param touching whether tasks report traffic, where there is something to report it to */
    abstract TaskPool open(boolean touching);

    /** Takes tasks that yield a future. Thread-safe. */
    interface TaskPool extends AutoCloseable {
        Future<?> submit(Runnable task);

        @Override
        void close();
    }

    /** Tasks belong to any of 64 tables. */
    private static final class RoostPool implements TaskPool {
        private static final int TABLES = 64;
        private static final SearchFunction<Runnable, Boolean> RUN = (task, context) -> {
            task.run();
            return Boolean.TRUE;
        };
        private static final SearchFunction<Runnable, Boolean> RUN_AND_REPORT = (task, context) -> {
            task.run();
            context.touched(1, 512);
            return Boolean.TRUE;
        };

        private final SearchFunction<Runnable, Boolean> function;
        private final Orchestrator orchestrator = Orchestrator.builder()
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
        private final MappingId[] ids = new MappingId[TABLES];

        RoostPool(boolean touching) {
            function = touching ? RUN_AND_REPORT : RUN;
            Registration tables = orchestrator.register("tables", TABLES);
            for (int table = 0; table < TABLES; table++) {
                ids[table] = tables.id(table);
            }
        }

        @Override
        public Future<?> submit(Runnable task) {
            return orchestrator.submit(
                    function, task, ids[ThreadLocalRandom.current().nextInt(TABLES)]);
        }

        @Override
        public void close() {
            orchestrator.close();
        }
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
