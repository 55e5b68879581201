package io.github.roost.core.pool;

import io.github.roost.core.Machines;
import io.github.roost.core.dispatch.CrossDomainGate;
import io.github.roost.core.dispatch.IdleStrategy;
import io.github.roost.core.dispatch.Scheduling;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.task.SearchFunction;

/** Tasks for stress tests, that do nothing, and pools whose workers' threads are not started. */
final class StressTasks {
    private static final WorkerLayout LAYOUT = WorkerLayout.of(Machines.of(1, 2));
    private static final TrafficMonitor MONITOR = new TrafficMonitor(1);

    private StressTasks() {}

    static Epoch epoch() {
        return new Epochs(Mapping.of(1, new int[] {0}), 1).current();
    }

    static SearchTask<Integer, Integer> task(Epoch epoch) {
        return task(epoch, (query, context) -> query);
    }

    static SearchTask<Integer, Integer> task(Epoch epoch, SearchFunction<Integer, Integer> search) {
        return new SearchTask<>(search, 0, 0, epoch, Task.NOT_TIMED, Task.NO_DEADLINE);
    }

    /** Two workers of one domain, with room for two tasks each. */
    static WorkerPool pool() {
        return new WorkerPool(
                LAYOUT,
                Scheduling.V2,
                Machines.unpinned(),
                () -> -1,
                new CrossDomainGate(2, 0),
                IdleStrategy.spinThenPark(1),
                2,
                MONITOR,
                new PoolListener() {
                    @Override
                    public void crossSteal(int thief, int victim, int slot) {}

                    @Override
                    public void ran(int slot, int worker, long nanos) {}

                    @Override
                    public void workerReplaced(int worker) {}
                });
    }
}
