package io.github.roost.core;

import static io.github.roost.core.BlockedWorkers.DOUBLE;
import static io.github.roost.core.BlockedWorkers.FOREVER;
import static io.github.roost.core.BlockedWorkers.await;
import static io.github.roost.core.BlockedWorkers.blocking;
import static io.github.roost.core.BlockedWorkers.parts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a submission that finds the rings full. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverloadPolicyTest {
    @Test
    void aFullDomainRejectsAndNamesItself() {
        try (Orchestrator orchestrator =
                Machines.orchestrator(2, 1).ringCapacity(4).build()) {
            MappingId id = orchestrator.register("table").id();
            int home = orchestrator.homes(id).getFirst();
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Integer>> accepted = new ArrayList<>();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            accepted.add(orchestrator.submit(blocking(new CountDownLatch(1), release), 0, id));
                        }
                    })
                    .isInstanceOf(RejectedSearchException.class)
                    .hasMessageContaining("cache domain " + home + " is full");
            release.countDown();
            assertThat(accepted).hasSizeBetween(4, 10).allSatisfy(future -> future.get(10, TimeUnit.SECONDS));
            assertThat(orchestrator.stats().tasks().rejected()).isEqualTo(1);
        }
    }

    /** The caller runs the second search, which waits for the first. */
    @Test
    void whatWasAcceptedBeforeIsPlacedBeforeTheCallerRunsASearch() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .ringCapacity(1)
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .overloadPolicy(OverloadPolicy.callerRuns())
                .build()) {
            Registration table = orchestrator.register("table", 2);
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, table.id(1));
            await(started);
            var _ = orchestrator.submit(DOUBLE, 1, table.id(1));
            CountDownLatch first = new CountDownLatch(1);
            Step.Fork<Integer, Object, Integer, Integer> opens = only(new Part<>(
                    (query, context) -> {
                        first.countDown();
                        return 1;
                    },
                    1,
                    table.id(0)));
            Step.Fork<Integer, Object, Integer, Integer> waits =
                    only(new Part<>((query, context) -> first.await(10, TimeUnit.SECONDS) ? 2 : -1, 1, table.id(1)));
            List<CompletableFuture<Integer>> answers =
                    orchestrator.indexing().submitTogether(List.of(opens, waits), 1, SubmitOptions.DEFAULT);
            release.countDown();
            assertThat(answers.getFirst().get(10, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(answers.getLast().get(10, TimeUnit.SECONDS)).isEqualTo(2);
        }
    }

    private static Step.Fork<Integer, Object, Integer, Integer> only(Part<Integer, Integer> part) {
        return new Step.Fork<>(
                List.of(part), List.of(), null, (query, results, context) -> Step.done(results.getFirst()));
    }

    @Test
    void aSubmitterMayWaitForRoomAsLongAsItTakes() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(release::countDown);
            List<CompletableFuture<Integer>> futures = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                futures.add(orchestrator.submit(DOUBLE, i, id));
            }
            assertThat(futures.getLast().join()).isEqualTo(198);
        }
    }

    @Test
    void submittersThatStillWaitForRoomAreToldThatTheOrchestratorIsClosed() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build();
        Registration table = orchestrator.register("table", 1);
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        var _ = orchestrator.submit(blocking(started, release), 0, table.id(0));
        await(started);
        for (int i = 0; i < 2; i++) {
            var _ = orchestrator.submit(DOUBLE, i, table.id(0));
        }
        // More than the ring has room for when the close fails the tasks in it.
        List<FutureTask<CompletableFuture<Integer>>> waiting = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            waiting.add(new FutureTask<>(() -> orchestrator.submit(DOUBLE, 1, table.id(0))));
            waiting.add(new FutureTask<>(() -> orchestrator.fanOut(parts(table, DOUBLE), results -> results.size())));
        }
        for (FutureTask<CompletableFuture<Integer>> submission : waiting) {
            Thread submitter = Thread.ofPlatform().daemon().start(submission);
            while (submitter.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
        }
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        release.countDown();
        for (FutureTask<CompletableFuture<Integer>> submission : waiting) {
            // A submission that found room after all fails in its future.
            assertThatThrownBy(() -> submission.get().get(10, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(OrchestratorClosedException.class);
        }
    }

    @Test
    void aFanOutThatDoesNotFitLeavesNothingBehind() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).ringCapacity(4).build();
        Registration table = orchestrator.register("table", 100);
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        var _ = orchestrator.submit(blocking(started, release), 0, table.id(0));
        await(started);
        CompletableFuture<Integer> waits = orchestrator.submit(DOUBLE, 1, table.id(0));
        assertThatThrownBy(() -> orchestrator.fanOut(
                        parts(table, (query, context) -> ran.incrementAndGet()), results -> results))
                .isInstanceOf(RejectedSearchException.class);
        assertThat(orchestrator.stats().workers())
                .allSatisfy(worker -> assertThat(worker.waiting()).isOne());
        release.countDown();
        assertThat(waits.join()).isEqualTo(2);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
        assertThat(ran).hasValue(0);
    }

    @Test
    void aListOfPartsThatFailsLeavesNothingBehind() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        Registration table = orchestrator.register("table", 2);
        for (int good = 0; good < 10; good++) {
            AtomicInteger left = new AtomicInteger(good);
            List<Part<Integer, Integer>> failing = new ArrayList<>(parts(table, DOUBLE)) {
                private static final long serialVersionUID = 1;

                @Override
                public Iterator<Part<Integer, Integer>> iterator() {
                    return stream()
                            .peek(part -> {
                                if (left.getAndDecrement() <= 0) {
                                    throw new ConcurrentModificationException();
                                }
                            })
                            .iterator();
                }
            };
            try {
                orchestrator.fanOut(failing, results -> results.size()).join();
            } catch (ConcurrentModificationException expected) {
                assertThat(orchestrator.stats().workers())
                        .allSatisfy(worker -> assertThat(worker.waiting()).isZero());
            }
        }
        assertThat(orchestrator
                        .submit(DOUBLE, 1, table.id(0))
                        .orTimeout(10, TimeUnit.SECONDS)
                        .join())
                .isEqualTo(2);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void aFullRingCanRunTheTaskInTheCaller() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.callerRuns())
                .build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            Thread caller = Thread.currentThread();
            List<CompletableFuture<Thread>> futures = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                futures.add(orchestrator.submit((query, context) -> Thread.currentThread(), 0, id));
            }
            assertThat(futures.get(2)).isCompletedWithValue(caller);
            release.countDown();
            assertThat(futures.get(0).join()).isNotEqualTo(caller);
        }
    }
}
