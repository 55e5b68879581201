package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Request.Kind;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.Task.Outcome;
import io.github.roost.core.task.TaskContext;
import io.github.roost.testkit.Machines;
import org.jspecify.annotations.Nullable;

/** Tasks for stress tests, that do nothing, and pools whose workers' threads are not started. */
public final class StressTasks {
    private static final WorkerLayout LAYOUT = WorkerLayout.of(Machines.of(1, 2));
    private static final TrafficMonitor MONITOR = new TrafficMonitor(1, 2);

    private StressTasks() {}

    public static Epoch epoch() {
        return new Epochs(Mapping.of(1, new int[] {0}), 1).current();
    }

    public static Request<Integer, Integer> task(Epoch epoch) {
        return task(epoch, (query, context) -> query);
    }

    static Request<Integer, Integer> task(Epoch epoch, SearchFunction<Integer, Integer> search) {
        return new Request<>(
                Kind.ONE_SLICE, search, 0, 0, epoch, Priority.INTERACTIVE, Task.NOT_TIMED, Task.NO_DEADLINE);
    }

    /** A context that books nothing. */
    static TaskContext context(Task task) {
        TaskContext context = new TaskContext() {
            @Override
            protected void book(Outcome outcome) {}

            @Override
            public int worker() {
                return -1;
            }

            @Override
            public int domain() {
                return -1;
            }
        };
        context.begin(task, 0);
        return context;
    }

    /** Runs a worker whose thread is not started. */
    static Runner runner(WorkerPool pool, int worker) {
        Runner runner = new Runner(pool.worker(worker), pool, null);
        pool.worker(worker).runBy(runner);
        return runner;
    }

    /** A runner that looks for a task, as a runner does that has found none. */
    static Runner looking(WorkerPool pool, int worker) {
        Runner runner = runner(pool, worker);
        pool.idle().looks(runner.worker());
        return runner;
    }

    /** Marks a looking worker as asleep, as its runner does; whether it may sleep. */
    static boolean fallsAsleep(Runner runner) {
        return runner.pool().idle().fallsAsleep(runner.worker(), runner) && !runner.seesTask();
    }

    /** Puts a task at a worker and wakes, as a submitter does. */
    static void put(WorkerPool pool, int worker, Task task) {
        pool.worker(worker).interactive.put(task);
        pool.idle().added(pool.worker(worker));
    }

    /** Two workers of one domain, with room for two tasks each. */
    static WorkerPool pool() {
        return pool(LAYOUT, MONITOR, new CrossDomainGate(0), 2);
    }

    /** The system's platform, but answers are delivered in the thread that has them. */
    private static final class AnswersAtOnce implements Platform {
        @Override
        public long nanoTime() {
            return SYSTEM.nanoTime();
        }

        @Override
        public int random(int bound) {
            return SYSTEM.random(bound);
        }

        @Override
        public void park(Worker worker) {
            SYSTEM.park(worker);
        }

        @Override
        public void parkNanos(Worker worker, long nanos) {
            SYSTEM.parkNanos(worker, nanos);
        }

        @Override
        public void deliver(Runnable answer) {
            answer.run();
        }

        @Override
        public void unpark(Worker worker, @Nullable Thread thread) {
            SYSTEM.unpark(worker, thread);
        }
    }

    /** A pool that tells nobody what happens. */
    static WorkerPool pool(WorkerLayout layout, TrafficMonitor monitor, CrossDomainGate gate, int ringCapacity) {
        return new WorkerPool(
                new WorkerPool.Setup(
                        layout,
                        SchedulingPolicy.HOME_DOMAIN,
                        Machines.unpinned(),
                        () -> -1,
                        gate,
                        IdleStrategy.spinThenPark(1),
                        ringCapacity,
                        .02,
                        monitor,
                        id -> true,
                        new PoolListener() {
                            @Override
                            public void crossSteal(int thief, int victim, int slot) {}

                            @Override
                            public void ran(int slot, int worker, long nanos) {}

                            @Override
                            public void broke(Throwable error) {}
                        }),
                Dispatcher.of(SchedulingPolicy.HOME_DOMAIN, layout),
                () -> 0,
                new AnswersAtOnce());
    }
}
