package io.github.roost.core;

import static io.github.roost.core.BlockedWorkers.DOUBLE;
import static io.github.roost.core.BlockedWorkers.FOREVER;
import static io.github.roost.core.BlockedWorkers.await;
import static io.github.roost.core.BlockedWorkers.blocking;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Homes, windows of traffic, epochs, and ids that come and go. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrchestratorMappingTest {
    @Test
    void newTablesSpreadOverTheDomains() {
        try (Orchestrator orchestrator = Machines.orchestrator(4, 1).build()) {
            List<MappingId> ids = IntStream.range(0, 8)
                    .mapToObj(i -> orchestrator.register("t" + i).id())
                    .toList();
            assertThat(ids.stream().map(id -> orchestrator.homes(id).getFirst()))
                    .containsExactlyInAnyOrder(0, 0, 1, 1, 2, 2, 3, 3);
        }
    }

    @Test
    void aLongWindowThatIsNoFewWholeShortOnesIsRefused() {
        Duration second = Duration.ofSeconds(1);
        for (Duration wrong : List.of(
                Duration.ZERO,
                Duration.ofMillis(500),
                Duration.ofMillis(1_500),
                second.multipliedBy(Orchestrator.Builder.MAX_SHORT_PER_LONG + 1),
                ChronoUnit.FOREVER.getDuration())) {
            assertThatThrownBy(() -> Orchestrator.builder().windows(second, wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the long window must be 1 to 1000 whole short windows of PT1S, got " + wrong);
        }
        assertThatThrownBy(() -> Orchestrator.builder().windows(Duration.ofNanos(999_999), second))
                .hasMessageContaining("at least 1 ms, got PT0.000999999S");
        Machines.orchestrator(1, 1)
                .windows(second, second.multipliedBy(Orchestrator.Builder.MAX_SHORT_PER_LONG))
                .build()
                .close();
    }

    @Test
    void trafficMovesATableToAFreeDomain() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .build()) {
            List<Registration> tables = IntStream.range(0, 4)
                    .mapToObj(i -> orchestrator.register("table-" + i))
                    .toList();
            List<Registration> together = tables.stream()
                    .filter(table -> orchestrator.homes(table.id()).contains(0))
                    .toList();
            assertThat(together).hasSize(2);
            for (int i = 0; i < 1_000; i++) {
                for (Registration table : together) {
                    orchestrator
                            .submit(
                                    (query, context) -> {
                                        context.touched(10, 100_000);
                                        return query;
                                    },
                                    i,
                                    table.id())
                            .join();
                }
            }
            long before = orchestrator.mapping().epoch();
            CompletableFuture<Boolean> free = usableByOthersOnceRetired(orchestrator);
            assertThat(orchestrator.indexing().endWindow()).isTrue();
            assertThat(free.join()).isTrue();
            assertThat(orchestrator.mapping().epoch()).isEqualTo(before + 1);
            assertThat(together.stream()
                            .map(table -> orchestrator.homes(table.id()).getFirst()))
                    .containsExactlyInAnyOrder(0, 1);
            assertThat(orchestrator.stats().remaps()).isEqualTo(1);
            assertThat(orchestrator.indexing().endWindow()).isFalse();
        }
    }

    @Test
    void aSearchMayCountTrafficOfOtherMappingIds() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                        .windows(Duration.ofHours(1), Duration.ofHours(6))
                        .build();
                Orchestrator other = Machines.orchestrator(1, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            Registration gone = orchestrator.register("gone");
            gone.close();
            orchestrator.indexing().quiesce().toCompletableFuture().join();
            Registration heir = orchestrator.register("heir");
            assertThat(heir.id().slot()).isEqualTo(gone.id().slot());
            MappingId foreign = other.register("foreign").id();
            SearchFunction<Integer, Integer> readsAll = (query, context) -> {
                for (int index = 0; index < table.size(); index++) {
                    orchestrator.indexing().touched(table.id(index), 1, 100L * index);
                }
                orchestrator.indexing().touched(gone.id(), 1, 1_000);
                assertThatThrownBy(() -> orchestrator.indexing().touched(foreign, 1, 1))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("got foreign of another orchestrator");
                assertThatThrownBy(() -> orchestrator.indexing().touched(table.id(0), 1, -7))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("must not be negative, got 1 and -7");
                return query;
            };
            orchestrator.submit(readsAll, 0, table.id(2)).join();
            assertThat(orchestrator.stats().tables())
                    .containsExactlyInAnyOrder(
                            new OrchestratorStats.TableStats("table", 4, 4, 600, null),
                            new OrchestratorStats.TableStats("heir", 1, 0, 0, null));
            assertThat(orchestrator.stats().tasks().completed()).isEqualTo(1);
        }
    }

    @Test
    void aMappingIdWithSeveralHomesHasNoneOfItsOwn() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .build()) {
            Registration table = orchestrator.register("table", 2);
            assertThat(List.of(table.home(0), table.home(1))).containsExactlyInAnyOrder(0, 1);
            assertThat(List.of(table.home(0))).isEqualTo(orchestrator.homes(table.id(0)));
            for (int i = 0; i < 1_000; i++) {
                orchestrator
                        .submit(
                                (query, context) -> {
                                    context.touched(10, 100_000);
                                    return query;
                                },
                                i,
                                table.id(0))
                        .join();
            }
            assertThat(orchestrator.indexing().endWindow()).isTrue();
            assertThat(orchestrator.homes(table.id(0))).hasSize(2);
            assertThat(table.home(0)).isEqualTo(-1);
            assertThatThrownBy(() -> table.home(2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("between 0 and 1, got 2");
        }
    }

    @Test
    void workersAreFreeThatHaveNothingToRun() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 2)
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .build()) {
            Registration table = orchestrator.register("table");
            int home = table.home(0);
            awaitFree(orchestrator, home, 2);
            awaitFree(orchestrator, 1 - home, 2);
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int left = 1; left >= 0; left--) {
                CountDownLatch started = new CountDownLatch(1);
                running.add(orchestrator.submit(blocking(started, release), 0, table.id()));
                await(started);
                awaitFree(orchestrator, home, left);
            }
            assertThat(orchestrator.indexing().freeWorkers(1 - home)).isEqualTo(2);
            running.add(orchestrator.submit(blocking(new CountDownLatch(1), release), 0, table.id()));
            assertThat(orchestrator.indexing().freeWorkers(home)).isZero();
            release.countDown();
            running.forEach(CompletableFuture::join);
            awaitFree(orchestrator, home, 2);
            assertThatThrownBy(() -> orchestrator.indexing().freeWorkers(2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("domain must be between 0 and 1, got 2");
        }
        try (Orchestrator anywhere = Machines.orchestrator(1, 1)
                .scheduling(SchedulingPolicy.WORK_STEALING)
                .build()) {
            anywhere.submit(DOUBLE, 1, anywhere.register("table").id()).join();
            assertThat(anywhere.indexing().freeWorkers(0)).isZero();
        }
    }

    /** Workers say that they have begun to look for something, or found it, a moment after they have. */
    private static void awaitFree(Orchestrator orchestrator, int domain, int expected) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (orchestrator.indexing().freeWorkers(domain) != expected && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(orchestrator.indexing().freeWorkers(domain)).isEqualTo(expected);
    }

    @Test
    void anEpochRetiresWhenItsLastTaskHasFinished() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            long epoch = orchestrator.mapping().epoch();
            CompletableFuture<Void> quiet = orchestrator.indexing().quiesce().toCompletableFuture();
            CompletableFuture<Void> retired =
                    orchestrator.indexing().retired(epoch).toCompletableFuture();
            assertThat(orchestrator.submit(DOUBLE, 3, id)).isNotNull();
            assertThat(retired).isNotDone();
            assertThat(quiet).isNotDone();
            release.countDown();
            retired.join();
            quiet.join();
        }
    }

    @Test
    void whatWaitsForAnEpochHoldsNothingUp() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            Registration table = orchestrator.register("table");
            for (Runnable publishing : List.<Runnable>of(
                    orchestrator.indexing()::quiesce, () -> orchestrator.register("other"), table::close)) {
                CompletableFuture<Boolean> free = usableByOthersOnceRetired(orchestrator);
                publishing.run();
                assertThat(free.join()).isTrue();
            }
        }
    }

    /** Completes when the present epoch has retired: whether another thread can use the orchestrator meanwhile. */
    private static CompletableFuture<Boolean> usableByOthersOnceRetired(Orchestrator orchestrator) {
        return orchestrator
                .indexing()
                .retired(orchestrator.mapping().epoch())
                .thenApply(none -> CompletableFuture.supplyAsync(orchestrator::mapping)
                        .thenApply(mapping -> true)
                        .completeOnTimeout(false, 10, TimeUnit.SECONDS)
                        .join())
                .toCompletableFuture();
    }

    @Test
    void theIdsOfAClosedTableAreFreeAtOnceIfNoTaskIsLeft() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            for (int round = 0; round < 100; round++) {
                Registration all = orchestrator.register("all", 131_072);
                assertThat(orchestrator.submit(DOUBLE, 1, all.id(0)).join()).isEqualTo(2);
                orchestrator.indexing().quiesce().toCompletableFuture().join();
                all.close();
            }
        }
    }

    @Test
    void unregisteredIdsAreRefusedAndTheirSlotsUsedAgain() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build();
                Orchestrator other = Machines.orchestrator(1, 1).build()) {
            Registration first = orchestrator.register("first", 100_000);
            assertThatThrownBy(() -> orchestrator.register("second", 100_000))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("131,072");
            first.close();
            first.close();
            assertThatThrownBy(() -> orchestrator.submit(DOUBLE, 1, first.id(7)))
                    .isInstanceOf(TableClosedException.class)
                    .hasMessage("table first is closed");
            Registration second = orchestrator.register("second", 100_000);
            assertThat(second.id(99_999).slot()).isLessThan(131_072);
            assertThatThrownBy(() -> other.submit(DOUBLE, 1, second.id(0)))
                    .hasMessageContaining("another orchestrator");
        }
    }

    @Test
    void noSearchOfAnUnregisteredTableRunsOnceThoseBeforeHaveFinished() throws Exception {
        int submitters = 8;
        AtomicInteger late = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            for (int round = 0; round < 50; round++) {
                Registration table = orchestrator.register("table");
                AtomicBoolean finished = new AtomicBoolean();
                CountDownLatch submitted = new CountDownLatch(10 * submitters);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < submitters; i++) {
                    threads.add(Thread.ofPlatform().start(() -> {
                        SearchFunction<Integer, Integer> search =
                                (query, context) -> finished.get() ? late.incrementAndGet() : 0;
                        try {
                            while (true) {
                                var _ = orchestrator.submit(search, 0, table.id());
                                submitted.countDown();
                            }
                        } catch (TableClosedException closed) {
                            // As it should be.
                        }
                    }));
                }
                submitted.await();
                long epoch = orchestrator.mapping().epoch();
                table.close();
                orchestrator.indexing().retired(epoch).toCompletableFuture().join();
                finished.set(true);
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        }
        assertThat(late).hasValue(0);
    }

    @Test
    void idsOfTablesThatAreNoMoreAreNotCounted() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            assertThat(orchestrator.stats().domains())
                    .extracting(OrchestratorStats.DomainStats::mappingIds)
                    .containsExactly(2, 2);
            table.close();
            assertThat(orchestrator.stats().domains())
                    .extracting(OrchestratorStats.DomainStats::mappingIds)
                    .containsExactly(0, 0);
        }
    }

    @Test
    void aPolicyThatFailsIsAskedAgainAtTheNextWindow() {
        CountDownLatch requested = new CountDownLatch(3);
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofMillis(1), Duration.ofMillis(6))
                .mappingPolicy((current, traffic) -> {
                    requested.countDown();
                    throw new AssertionError("no mapping");
                })
                .build()) {
            assertThat(orchestrator.workers()).isEqualTo(2);
            await(requested);
        }
    }
}
