package io.github.roost.core;

import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A search that waits for other searches: what runs meanwhile, and on which thread. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NestedJoinTest {
    private static final int STRANGERS = 20;
    private static final int MAX_EXTRA_THREADS = 256;
    private static final long STILL_NANOS = TimeUnit.SECONDS.toNanos(1);

    @RegisterExtension
    final TestBed bed = new TestBed();

    /** A future of somebody else that completes with an event. */
    enum Awaited {
        OF_AN_INDEX {
            @Override
            CompletableFuture<Integer> future(
                    Orchestrator orchestrator, MappingId id, CompletableFuture<Integer> event) {
                return event;
            }
        },
        DERIVED {
            @Override
            CompletableFuture<Integer> future(
                    Orchestrator orchestrator, MappingId id, CompletableFuture<Integer> event) {
                return event.thenApply(value -> value + 1);
            }
        },
        PARKED_SEARCH {
            @Override
            CompletableFuture<Integer> future(Orchestrator orchestrator, MappingId id, CompletableFuture<Integer> event)
                    throws Exception {
                CountDownLatch begun = new CountDownLatch(1);
                CompletableFuture<Integer> search = orchestrator
                        .indexing()
                        .submitSteps(
                                (query, context) -> {
                                    begun.countDown();
                                    return new Step.Park<>(Pending.of(event), (same, then) -> Step.done(same));
                                },
                                0,
                                id,
                                SubmitOptions.DEFAULT);
                await(begun);
                return search;
            }
        };

        abstract CompletableFuture<Integer> future(
                Orchestrator orchestrator, MappingId id, CompletableFuture<Integer> event) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aSearchThatWaitsRunsNoSearchOfAStranger(Awaited kind) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> event = orchestrator.indexing().newFuture();
        bed.atEnd(() -> event.complete(0));
        CompletableFuture<Integer> awaited = kind.future(orchestrator, id, event);
        CompletableFuture<Thread> waits = new CompletableFuture<>();
        CompletableFuture<Thread> waiting = orchestrator.submit(
                (query, context) -> {
                    waits.complete(Thread.currentThread());
                    var _ = awaited.join();
                    return Thread.currentThread();
                },
                0,
                id);
        Thread itsThread = get(waits);
        List<CompletableFuture<Thread>> strangers = new ArrayList<>();
        for (int i = 0; i < STRANGERS; i++) {
            strangers.add(orchestrator.submit((query, context) -> Thread.currentThread(), 0, id));
        }
        for (CompletableFuture<Thread> stranger : strangers) {
            assertThat(get(stranger)).isNotSameAs(itsThread);
        }
        assertThat(waiting).isNotDone();
        event.complete(1);
        assertThat(get(waiting)).isSameAs(itsThread);
    }

    @Test
    void aSearchThatWaitsForAQueuedSearchOfAStrangerLeavesItToAnotherThread() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(holding(begun, gate), 0, id);
        await(begun);
        AtomicReference<CompletableFuture<Thread>> stranger = new AtomicReference<>();
        AtomicReference<Thread> itsThread = new AtomicReference<>();
        CompletableFuture<Thread> waiting = orchestrator.submit(
                (query, context) -> {
                    itsThread.set(Thread.currentThread());
                    return Objects.requireNonNull(stranger.get()).join();
                },
                0,
                id);
        stranger.set(orchestrator.submit((query, context) -> Thread.currentThread(), 0, id));
        gate.countDown();
        assertThat(get(waiting)).isNotSameAs(itsThread.get());
    }

    @Test
    void aSearchThatWaitsForItsChildrenRunsThemItselfAndNoStranger() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(holding(begun, gate), 0, id);
        await(begun);
        AtomicReference<Thread> waits = new AtomicReference<>();
        CompletableFuture<Boolean> parent = orchestrator.submit(
                (query, context) -> {
                    List<CompletableFuture<Thread>> children = new ArrayList<>();
                    for (int i = 0; i < 5; i++) {
                        children.add(orchestrator.submit((same, child) -> Thread.currentThread(), 0, id));
                    }
                    waits.set(Thread.currentThread());
                    boolean itself = true;
                    for (CompletableFuture<Thread> child : children) {
                        itself &= child.join() == Thread.currentThread();
                    }
                    waits.set(null);
                    return itself;
                },
                0,
                id);
        List<CompletableFuture<Boolean>> strangers = new ArrayList<>();
        for (int i = 0; i < STRANGERS; i++) {
            strangers.add(orchestrator.submit((query, context) -> waits.get() == Thread.currentThread(), 0, id));
        }
        gate.countDown();
        for (CompletableFuture<Boolean> stranger : strangers) {
            assertThat(get(stranger))
                    .as("a stranger ran inside the search that waits")
                    .isFalse();
        }
        assertThat(get(parent))
                .as("the children ran in the thread that waits for them")
                .isTrue();
    }

    @Test
    void childrenOfChildrenEndOnOneWorker() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        SearchFunction<Integer, Integer> root = (levels, context) -> leaves(orchestrator, id, levels);
        assertThat(get(orchestrator.submit(root, 8, id))).isEqualTo(256);
    }

    private static int leaves(Orchestrator orchestrator, MappingId id, int levels) {
        if (levels == 0) {
            return 1;
        }
        SearchFunction<Integer, Integer> half = (query, context) -> leaves(orchestrator, id, query);
        CompletableFuture<Integer> left = orchestrator.submit(half, levels - 1, id);
        CompletableFuture<Integer> right = orchestrator.submit(half, levels - 1, id);
        return left.join() + right.join();
    }

    /** Single flight: the first request loads a partition, later ones wait for its future. */
    @Test
    void loadsThatWaitForAnEventAndUsersThatWaitForTheLoadsAllEnd() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 2));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> event = orchestrator.indexing().newFuture();
        bed.atEnd(() -> event.complete(0));
        CountDownLatch loading = new CountDownLatch(2);
        List<CompletableFuture<Integer>> loads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            loads.add(orchestrator.submit(
                    (query, context) -> {
                        loading.countDown();
                        loading.await();
                        return event.join();
                    },
                    0,
                    id));
        }
        await(loading);
        CountDownLatch using = new CountDownLatch(6);
        List<CompletableFuture<Integer>> users = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            users.add(orchestrator.submit(
                    (query, context) -> {
                        using.countDown();
                        return loads.get(0).join() + loads.get(1).join();
                    },
                    0,
                    id));
        }
        await(using);
        event.complete(1);
        for (CompletableFuture<Integer> load : loads) {
            assertThat(get(load)).isOne();
        }
        for (CompletableFuture<Integer> user : users) {
            assertThat(get(user)).isEqualTo(2);
        }
        assertThat(orchestrator.close(Duration.ofSeconds(5))).isTrue();
    }

    @Tag("stress")
    @Test
    void searchesThatWaitTakeABoundedNumberOfThreads() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 2));
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> event = orchestrator.indexing().newFuture();
        bed.atEnd(() -> event.complete(0));
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            waiting.add(orchestrator.submit(
                    (query, context) -> {
                        threads.add(Thread.currentThread());
                        return event.join();
                    },
                    0,
                    id));
        }
        awaitNoMore(threads);
        assertThat(threads).hasSizeBetween(3, orchestrator.workers() + MAX_EXTRA_THREADS);
        event.complete(1);
        for (CompletableFuture<Integer> search : waiting) {
            assertThat(get(search)).isOne();
        }
        assertThat(threads).hasSizeLessThanOrEqualTo(orchestrator.workers() + MAX_EXTRA_THREADS);
        AtomicBoolean ran = new AtomicBoolean();
        var _ = get(orchestrator.submit((query, context) -> ran.getAndSet(true), 0, id));
        assertThat(ran).isTrue();
    }

    private static void awaitNoMore(Set<Thread> threads) throws InterruptedException {
        int before = -1;
        long since = System.nanoTime();
        while (System.nanoTime() - since < STILL_NANOS) {
            int now = threads.size();
            if (now != before) {
                before = now;
                since = System.nanoTime();
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
