package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CloseTableTest {
    private final Orchestrator orchestrator = Machines.orchestrator(1, 2).build();
    private final Registration table = orchestrator.register("table", 3);
    private final AtomicInteger freed = new AtomicInteger();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private boolean closeTable() {
        return orchestrator.indexing().closeTable(table, freed::incrementAndGet);
    }

    @Test
    void memoryIsFreedOnceWhenWhatWasAcceptedHasEnded() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<Integer>> accepted = new ArrayList<>();
        for (int search = 0; search < 10; search++) {
            accepted.add(orchestrator.submit(
                    (query, context) -> {
                        release.await();
                        return freed.get();
                    },
                    search,
                    table.id(search % 3)));
        }
        Thread closer = Thread.ofPlatform().start(this::closeTable);
        while (table.isOpen()) {
            Thread.onSpinWait();
        }
        assertThatThrownBy(() -> orchestrator.submit((query, context) -> 1, 1, table.id(0)))
                .isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> table.use().hold()).isInstanceOf(TableClosedException.class);
        assertThat(freed).hasValue(0);
        release.countDown();
        closer.join();
        assertThat(freed).hasValue(1);
        assertThat(accepted).allSatisfy(search -> assertThat(search.join()).isZero());
        assertThat(closeTable()).isFalse();
        assertThat(freed).hasValue(1);
        assertThatThrownBy(() -> table.use().holdFromInside()).isInstanceOf(TableClosedException.class);
    }

    @Test
    void aCallbackOfADeadlineDoesNotWaitForItsOwnSearch() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        for (int worker = 0; worker < orchestrator.workers(); worker++) {
            var _ = orchestrator.submit(
                    (query, context) -> {
                        release.await();
                        return 1;
                    },
                    1,
                    orchestrator.register("busy").id());
        }
        CompletableFuture<Boolean> closes = orchestrator
                .submit((query, context) -> 1, 1, table.id(0), SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1)))
                .handle((none, late) -> closeTable());
        try {
            assertThat(closes.get(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            release.countDown();
        }
        while (freed.get() == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aCancelledSearchThatStillRunsIsWaitedFor() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger seen = new AtomicInteger(-1);
        CompletableFuture<Integer> search = orchestrator.submit(
                (query, context) -> {
                    begun.countDown();
                    release.await();
                    seen.set(freed.get());
                    return 1;
                },
                1,
                table.id(0));
        begun.await();
        search.cancel(false);
        Thread closer = Thread.ofPlatform().start(this::closeTable);
        while (table.isOpen()) {
            Thread.onSpinWait();
        }
        release.countDown();
        closer.join();
        assertThat(seen).hasValue(0);
        assertThat(freed).hasValue(1);
    }

    @Test
    void thePartsOfASearchThatWasAcceptedAreWaitedFor() {
        AtomicInteger seen = new AtomicInteger();
        SearchFunction<Integer, Integer> part = (query, context) -> {
            TimeUnit.MILLISECONDS.sleep(1);
            seen.addAndGet(freed.get());
            return 1;
        };
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        for (int search = 0; search < 20; search++) {
            List<Part<Integer, Integer>> parts = List.of(
                    new Part<>(part, 1, table.id(0)),
                    new Part<>(part, 1, table.id(1)),
                    new Part<>(part, 1, table.id(2)));
            searches.add(orchestrator.fanOut(parts, results -> results.size()));
        }
        assertThat(closeTable()).isTrue();
        assertThat(freed).hasValue(1);
        assertThat(searches).allSatisfy(search -> assertThat(search.join()).isEqualTo(3));
        assertThat(seen).hasValue(0);
    }

    @Test
    void aSearchMayCloseItsOwnTableWhichIsFreedWhenItHasEnded() {
        int within = orchestrator
                .submit(
                        (query, context) -> {
                            closeTable();
                            return freed.get();
                        },
                        1,
                        table.id(0))
                .join();
        assertThat(within).isZero();
        table.use().freed().join();
        assertThat(freed).hasValue(1);
    }

    @Test
    void aSearchThatRunsInItsSubmittersThreadMayCloseItsTable() {
        try (Orchestrator small = Orchestrator.builder()
                .topology(Machines.of(1, 1))
                .ringCapacity(1)
                .overloadPolicy(OverloadPolicy.callerRuns())
                .build()) {
            Registration own = small.register("own");
            AtomicInteger withinCaller = new AtomicInteger(-1);
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Object>> searches = new ArrayList<>();
            Thread caller = Thread.currentThread();
            while (withinCaller.get() < 0) {
                searches.add(small.submit(
                        (query, context) -> {
                            if (Thread.currentThread() == caller) {
                                small.indexing().closeTable(own, freed::incrementAndGet);
                                withinCaller.set(freed.get());
                            } else {
                                release.await();
                            }
                            return query;
                        },
                        1,
                        own.id()));
            }
            assertThat(withinCaller).hasValue(0);
            release.countDown();
            own.use().freed().join();
            assertThat(freed).hasValue(1);
            assertThat(searches).allSatisfy(search -> assertThat(search.join()).isEqualTo(1));
        }
    }

    @Tag("stress")
    @Test
    void nobodyHoldsATableWhoseMemoryIsFreed() throws InterruptedException {
        for (int round = 0; round < 300; round++) {
            Registration tried = orchestrator.register("tried");
            TableUse use = tried.use();
            AtomicBoolean isFreed = new AtomicBoolean();
            AtomicInteger touchedFreed = new AtomicInteger();
            List<Thread> holders = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                boolean fromInside = i % 2 == 0;
                holders.add(Thread.ofPlatform().start(() -> {
                    while (true) {
                        try (var _ = fromInside ? use.holdFromInside() : use.hold()) {
                            if (isFreed.get()) {
                                touchedFreed.incrementAndGet();
                            }
                        } catch (TableClosedException closed) {
                            return;
                        }
                    }
                }));
            }
            orchestrator.indexing().closeTable(tried, () -> isFreed.set(true));
            assertThat(isFreed).isTrue();
            for (Thread holder : holders) {
                holder.join();
            }
            assertThat(touchedFreed).hasValue(0);
        }
    }

    /** The callbacks run before the search goes on and sees that it is cancelled. */
    @Test
    void aCallbackOfACancelledSearchThatIsParkedDoesNotWaitForIt() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 2).build()) {
            Registration table = orchestrator.register("parked");
            CompletableFuture<Integer> search = orchestrator
                    .indexing()
                    .submitSteps(
                            (Integer query, SearchContext context) ->
                                    new Step.Park<Integer, Integer>(new Pending(), (again, within) -> Step.done(1)),
                            1,
                            table.id(),
                            SubmitOptions.DEFAULT);
            while (orchestrator.stats().domains().getFirst().parked() == 0) {
                Thread.onSpinWait();
            }
            CompletableFuture<Void> freed = new CompletableFuture<>();
            CompletableFuture<Boolean> closed = search.handle((found, failure) -> {
                orchestrator.indexing().closeTable(table, () -> freed.complete(null));
                return freed.isDone();
            });
            search.cancel(false);
            assertThat(closed.join()).as("freed inside the callback").isFalse();
            freed.join();
        }
    }
}
