package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Priority;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerDeathTest {
    private final List<Integer> restarted = new CopyOnWriteArrayList<>();
    private final List<Integer> pinnedTo = new CopyOnWriteArrayList<>();
    private final Epoch epoch = new Epochs(Mapping.of(1, new int[] {0}), 1).current();

    @Test
    void aWorkerStruckByAnErrorLosesNoTaskAndGoesOnOnItsCore() throws Exception {
        TrafficMonitor monitor = new TrafficMonitor(1);
        monitor.ensureCapacity(1);
        WorkerPool pool = new WorkerPool(
                new WorkerPool.Setup(
                        WorkerLayout.of(Machines.of(1, 1)),
                        SchedulingPolicy.HOME_DOMAIN,
                        core -> {
                            pinnedTo.add(core.id());
                            return Machines.unpinned().apply(core);
                        },
                        () -> -1,
                        new CrossDomainGate(2, 0),
                        IdleStrategy.spinThenPark(10),
                        16,
                        .02,
                        monitor,
                        new PoolListener() {
                            @Override
                            public void crossSteal(int thief, int victim, int slot) {}

                            @Override
                            public void ran(int slot, int worker, long nanos) {}

                            @Override
                            public void workerRestarted(int worker) {
                                restarted.add(worker);
                                throw new IllegalStateException("a listener that fails, too");
                            }
                        }),
                (slot, mapping, load, ticket) -> 0,
                () -> 0);
        pool.start();
        DeadlyTask deadly = new DeadlyTask();
        Request<Integer, Integer> behind = StressTasks.task(epoch, (query, context) -> query + 42);
        for (Task task : List.of(deadly, behind)) {
            epoch.enter(0, 1);
            assertThat(pool.offer(0, Priority.INTERACTIVE, task)).isTrue();
        }
        assertThat(deadly.failure.get()).isInstanceOf(DeadlyTask.Death.class);
        assertThat(behind.get()).isEqualTo(42);
        pool.terminate();
        assertThat(pool.join(Duration.ofSeconds(10))).isTrue();
        assertThat(epoch.inside()).isZero();
        assertThat(restarted).containsExactly(0);
        assertThat(pinnedTo).containsExactly(0);
        assertThat(pool.restartedWorkers()).isEqualTo(1);
        assertThat(pool.totalsOf(0).failed()).isEqualTo(1);
        assertThat(pool.totalsOf(0).completed()).isEqualTo(1);
    }

    /** Throws where tasks of the library catch everything. */
    private final class DeadlyTask implements Task {
        static final class Death extends Error {
            private static final long serialVersionUID = 1;
        }

        private final AtomicBoolean claimed = new AtomicBoolean();
        private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

        @Override
        public boolean claim() {
            return claimed.compareAndSet(false, true);
        }

        @Override
        public boolean isClaimed() {
            return claimed.get();
        }

        @Override
        public After run(TaskContext context) {
            throw new Death();
        }

        @Override
        public void fail(Throwable cause) {
            failure.complete(cause);
        }

        @Override
        public int slot() {
            return 0;
        }

        @Override
        public Epoch epoch() {
            return epoch;
        }

        @Override
        public long submittedNanos() {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return NO_DEADLINE;
        }

        @Override
        public Priority priority() {
            return Priority.INTERACTIVE;
        }

        @Override
        public @Nullable Task next() {
            return null;
        }

        @Override
        public void next(@Nullable Task task) {}

        @Override
        public @Nullable Parked parked() {
            return null;
        }

        @Override
        public void parked(Parked parked) {}

        @Override
        public boolean abandoned() {
            return false;
        }
    }
}
