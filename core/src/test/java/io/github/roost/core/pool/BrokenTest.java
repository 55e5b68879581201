package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Priority;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskContext;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An error that is not of a search's own. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokenTest {
    @Test
    void aBrokenOrchestratorFailsAllItsSearchesAndSaysSo() throws Exception {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        SearchFunction<Integer, Integer> blocks = (query, context) -> {
            begun.countDown();
            release.await();
            return query;
        };
        CompletableFuture<Integer> parked = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> new Step.Park<>(new Pending(), (same, later) -> Step.done(same)),
                        1,
                        id,
                        SubmitOptions.DEFAULT);
        CompletableFuture<Integer> running = orchestrator.submit(blocks, 1, id);
        begun.await();
        CompletableFuture<Integer> queued = orchestrator.submit((query, context) -> query, 1, id);
        CompletableFuture<Void> maintenance = orchestrator.indexing().maintenance(id, context -> true);

        Error error = new Error("of the scheduler");
        Inside.pool(orchestrator).breaks(error);

        for (CompletableFuture<?> open : List.of(parked, running, queued, maintenance)) {
            assertThatThrownBy(() -> open.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(OrchestratorClosedException.class)
                    .hasCause(error);
        }
        assertThatThrownBy(() -> orchestrator.submit((query, context) -> query, 1, id))
                .isInstanceOf(OrchestratorClosedException.class)
                .hasMessageContaining("broken")
                .hasCause(error);
        assertThatThrownBy(() -> orchestrator.indexing().maintenance(id, context -> false))
                .isInstanceOf(OrchestratorClosedException.class)
                .hasCause(error);
        assertThat(orchestrator.stats().broken()).isTrue();
        release.countDown();
        orchestrator.close(Duration.ofSeconds(20));
    }

    /** A rule of stalls must not throw. This one does between the moment in which a group is taken and that in which it runs. */
    @Test
    void theQueriesOfAGroupThatWasTakenFailToo() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        Throwing rule = new Throwing();
        orchestrator.indexing().stallRule(worker -> rule);
        Indexing.BatchQueue<Integer, Integer> queue =
                orchestrator.indexing().batchQueue(id, (group, context) -> Step.done(true));
        CompletableFuture<Integer> parked = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> new Step.Park<>(new Pending(), (same, later) -> Step.done(same)),
                        1,
                        id,
                        SubmitOptions.DEFAULT);
        Await.until(() -> rule.hasBegun);
        CompletableFuture<Integer> query = orchestrator.indexing().submitShared(queue, 1, SubmitOptions.DEFAULT);
        assertThat(query).failsWithin(Duration.ofSeconds(20));
        assertThat(parked).failsWithin(Duration.ofSeconds(20));
        assertThat(orchestrator.stats().broken()).isTrue();
        orchestrator.close(Duration.ofSeconds(20));
    }

    private static final class Throwing implements Indexing.StallRule {
        private volatile boolean hasBegun;

        @Override
        public void begins(long now, int underWay) {
            hasBegun = true;
        }

        @Override
        public void ends(long now) {
            throw new IllegalStateException("of a rule");
        }

        @Override
        public void isOver(long now) {
            if (now != 0) {
                throw new IllegalStateException("of a rule");
            }
        }

        @Override
        public void ran(long from, long to) {}

        @Override
        public long mayRun(long now) {
            return 0;
        }

        @Override
        public boolean isMeasured() {
            return false;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }
    }

    @Test
    void aTaskThatCannotEvenBeFailedBreaksThePool() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 2).build()) {
            MappingId id = orchestrator.register("table").id();
            WorkerPool pool = Inside.pool(orchestrator);
            Request<Integer, Integer> deadly =
                    new Request<>(
                            Request.Kind.ONE_SLICE,
                            (query, context) -> Step.done(query),
                            1,
                            id.slot(),
                            StressTasks.epoch(),
                            Priority.INTERACTIVE,
                            Task.NOT_TIMED,
                            Task.NO_DEADLINE) {
                        @Override
                        public After run(TaskContext context) {
                            throw new IllegalStateException("not of a search");
                        }

                        @Override
                        public void fail(Throwable cause) {
                            throw new IllegalStateException("cannot be failed");
                        }
                    };
            StressTasks.put(pool, 0, deadly);
            while (pool.broken() == null) {
                Thread.onSpinWait();
            }
            assertThat(pool.broken()).hasMessage("cannot be failed");
        }
    }
}
