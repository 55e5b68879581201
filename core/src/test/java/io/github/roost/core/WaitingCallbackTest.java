package io.github.roost.core;

import static io.github.roost.core.TestBed.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waits in places where the thread that waits is needed for something else. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingCallbackTest {
    private static final SearchFunction<Integer, Integer> SAME = (query, context) -> query;

    @RegisterExtension
    final TestBed bed = new TestBed();

    /** A search runs in its submitter's slice, since the queue is full, and waits for what a child of the submitter waits for. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSearchInItsSubmittersSliceDoesNotRunTheSubmittersChildren(boolean callerRuns) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1)
                .ringCapacity(1)
                .overloadPolicy(
                        callerRuns ? OverloadPolicy.callerRuns() : OverloadPolicy.block(Duration.ofSeconds(5))));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> outside = orchestrator.indexing().newFuture();
        CompletableFuture<Integer> event = orchestrator.indexing().newFuture();
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<Integer> outer = orchestrator.submit(
                (query, context) -> {
                    CompletableFuture<Integer> child = orchestrator.submit((same, its) -> event.join(), query, id);
                    CompletableFuture<Integer> here = orchestrator.submit(
                            (same, its) -> {
                                waits.countDown();
                                int value = outside.join();
                                event.complete(value);
                                return value;
                            },
                            query,
                            id);
                    return child.join() + here.join();
                },
                0,
                id);
        assertThat(waits.await(5, TimeUnit.SECONDS)).isTrue();
        outside.complete(21);
        assertThat(get(outer)).isEqualTo(42);
    }

    @Test
    void aCallbackOfASearchDoesNotRunTheSearchesChildren() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> outside = orchestrator.indexing().newFuture();
        CompletableFuture<Integer> event = orchestrator.indexing().newFuture();
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(
                (query, context) -> {
                    gate.await();
                    return query;
                },
                0,
                id);
        CompletableFuture<Integer> search = orchestrator.submit(
                (query, context) -> {
                    var _ = orchestrator.submit((same, its) -> event.join(), query, id);
                    return query;
                },
                0,
                id);
        CompletableFuture<Integer> after = search.thenApply(value -> {
            int seen = outside.join();
            event.complete(seen);
            return seen;
        });
        gate.countDown();
        outside.complete(5);
        assertThat(get(after)).isEqualTo(5);
    }

    @Test
    void aCallbackOfAPollMayWaitForASearch() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> bytes = new CompletableFuture<>();
        CompletableFuture<Integer> after =
                bytes.thenApply(value -> orchestrator.submit(SAME, 7, id).join() + value);
        try (CompletionSource.Handle _ = orchestrator
                .indexing()
                .addCompletionSource((worker, waker) -> new CompletionSource() {
                    @Override
                    public int poll() {
                        return bytes.complete(1) ? 1 : 0;
                    }

                    @Override
                    public boolean arm() {
                        return true;
                    }
                })) {
            assertThat(get(after)).isEqualTo(8);
            assertThat(get(orchestrator.submit(SAME, 1, id))).isEqualTo(1);
        }
    }

    @Test
    void aCallbackOfQuiesceMayWaitForAnotherAndCloseTables() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        Registration table = orchestrator.register("table");
        Indexing indexing = orchestrator.indexing();
        AtomicBoolean freed = new AtomicBoolean();
        CompletableFuture<Void> after = indexing.quiesce()
                .thenRun(() -> {
                    indexing.quiesce().toCompletableFuture().join();
                    indexing.closeTable(table, () -> freed.set(true));
                })
                .toCompletableFuture();
        get(after);
        assertThat(freed).isTrue();
    }

    @Test
    void aTableMayBeFreedAfterItsRegistrationWasClosed() {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        Registration table = orchestrator.register("table");
        AtomicBoolean freed = new AtomicBoolean();
        table.close();
        assertThat(orchestrator.indexing().closeTable(table, () -> freed.set(true)))
                .isTrue();
        assertThat(freed).isTrue();
    }

    @Test
    void aSubmitterThatWaitsForABatchQueueIsLetInWhenItsQueriesHaveEnded() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1)
                .ringCapacity(1)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30))));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(
                (query, context) -> {
                    gate.await();
                    return query;
                },
                0,
                id);
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator
                .indexing()
                .batchQueue(
                        id,
                        (group, context) -> {
                            for (int i = 0; i < group.size(); i++) {
                                group.answer(i, group.query(i));
                            }
                            return Step.done(true);
                        },
                        GroupRule.ALONE);
        CompletableFuture<Integer> first = orchestrator.indexing().submitShared(queue, 1, SubmitOptions.DEFAULT);
        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(
                () -> orchestrator
                        .indexing()
                        .submitShared(queue, 2, SubmitOptions.BATCH)
                        .join(),
                command -> Thread.ofPlatform().daemon().start(command));
        gate.countDown();
        assertThat(get(first)).isEqualTo(1);
        assertThat(get(second)).isEqualTo(2);
    }

    @Test
    void aCloseEndsAnyNumberOfParkedSearches() {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        List<CompletableFuture<Integer>> parked = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            parked.add(orchestrator
                    .indexing()
                    .submitSteps(
                            (query, context) -> new Step.Park<>(new Pending(), (same, later) -> Step.done(same)),
                            i,
                            id,
                            SubmitOptions.DEFAULT));
            if (i % 500 == 0) {
                orchestrator.submit(SAME, 0, id).join();
            }
        }
        assertThat(orchestrator.close(Duration.ZERO)).isFalse();
        assertThat(parked).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void whatShutdownNowReturnsIsNotRun() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(
                (query, context) -> {
                    gate.await();
                    return query;
                },
                0,
                id);
        ExecutorService executor = orchestrator.executor(id);
        AtomicBoolean ran = new AtomicBoolean();
        CompletableFuture<Void> run = CompletableFuture.runAsync(() -> ran.set(true), executor);
        Future<?> submitted = executor.submit(() -> ran.set(true));
        assertThat(executor.shutdownNow()).hasSize(2);
        gate.countDown();
        assertThat(executor.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).isFalse();
        assertThat(run).isNotDone();
        assertThat(submitted.isDone()).isFalse();
    }
}
