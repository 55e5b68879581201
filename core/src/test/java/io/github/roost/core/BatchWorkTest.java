package io.github.roost.core;

import static io.github.roost.core.BlockedWorkers.DOUBLE;
import static io.github.roost.core.BlockedWorkers.FOREVER;
import static io.github.roost.core.BlockedWorkers.await;
import static io.github.roost.core.BlockedWorkers.blocking;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Machines;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batch work on the workers, beside searches that go first. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchWorkTest {
    @Test
    void batchWorkYieldsToSearches() {
        AtomicBoolean searched = new AtomicBoolean();
        AtomicInteger yielded = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            orchestrator.indexing().yieldToSearches();
            orchestrator.indexing().runBatch("work", 3, piece -> {
                searched.set(false);
                CompletableFuture<?> search = orchestrator.submit(
                        (query, context) -> {
                            // A search yields to nobody.
                            orchestrator.indexing().yieldToSearches();
                            searched.set(true);
                            return 0;
                        },
                        0,
                        id);
                assertThat(searched).isFalse();
                orchestrator.indexing().yieldToSearches();
                assertThat(searched).isTrue();
                assertThat(search).isDone();
                yielded.incrementAndGet();
            });
            assertThat(yielded).hasValue(3);
        }
    }

    /** Fails if what waits inside a search that goes first may take batch work. */
    @Test
    void batchWorkIsNeverInterruptedByBatchWork() {
        // In one thread: that of a worker whose thread is blocked for long may be another.
        Map<Thread, Integer> running = new ConcurrentHashMap<>();
        AtomicInteger max = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            IntConsumer piece = number -> {
                max.accumulateAndGet(running.merge(Thread.currentThread(), 1, Integer::sum), Math::max);
                CompletableFuture<Integer> answer = orchestrator.indexing().newFuture();
                var _ = orchestrator.submit((query, context) -> answer.join(), 0, id);
                CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(() -> answer.complete(0));
                orchestrator.indexing().yieldToSearches();
                running.merge(Thread.currentThread(), -1, Integer::sum);
            };
            List<CompletableFuture<Void>> work = IntStream.range(0, 4)
                    .mapToObj(i -> CompletableFuture.runAsync(
                            () -> orchestrator.indexing().runBatch("work", 20, piece)))
                    .toList();
            work.forEach(CompletableFuture::join);
            assertThat(max).hasValue(1);
        }
    }

    @Test
    void batchWorkThatYieldsIsNotStarved() {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger inARow = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            List<CompletableFuture<Void>> chains = IntStream.range(0, 3)
                    .mapToObj(i -> searchUntil(done, orchestrator, id, inARow))
                    .toList();
            orchestrator.indexing().runBatch("work", 1, piece -> {
                for (int step = 0; step < 2_000; step++) {
                    inARow.set(0);
                    orchestrator.indexing().yieldToSearches();
                    max.accumulateAndGet(inARow.get(), Math::max);
                }
            });
            done.set(true);
            chains.forEach(CompletableFuture::join);
            assertThat(max).hasValue(32);
        }
    }

    @Test
    void batchWorkIsDoneBesideAsManyIdsAsTablesMayHave() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 2).build()) {
            AtomicInteger ran = new AtomicInteger();
            orchestrator.indexing().runBatch("work", 10, piece -> {
                if (piece == 0) {
                    assertThat(orchestrator.register("largest", 131_072).size()).isEqualTo(131_072);
                }
                ran.incrementAndGet();
            });
            orchestrator.indexing().runBatch("work", 10, piece -> ran.incrementAndGet());
            assertThat(ran).hasValue(20);
            assertThatThrownBy(() -> orchestrator.register("one more"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("131,072");
        }
    }

    @Test
    void batchWorkThrowsWhatAPieceThrew() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            RuntimeException unchecked = new IllegalStateException("no such row");
            assertThatThrownBy(() -> orchestrator.indexing().runBatch("work", 10, piece -> {
                        throw unchecked;
                    }))
                    .isSameAs(unchecked);
            Error error = new AssertionError("no such row");
            assertThatThrownBy(() -> orchestrator.indexing().runBatch("work", 10, piece -> {
                        throw error;
                    }))
                    .isSameAs(error);
        }
    }

    @Test
    void batchWorkNeedsNoRoomInRings() throws Exception {
        try (Orchestrator orchestrator =
                Machines.orchestrator(1, 1).ringCapacity(2).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            assertThatThrownBy(() -> fillWithBatchTasks(orchestrator, id)).isInstanceOf(RejectedSearchException.class);
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Void> work = CompletableFuture.runAsync(
                    () -> orchestrator.indexing().runBatch("work", 200_000, piece -> ran.incrementAndGet()));
            release.countDown();
            work.join();
            assertThat(ran).hasValue(200_000);
        }
    }

    @Test
    void batchWorkWithoutRoomRunsOnTheWorkerThatAsksForIt() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            MappingId id = orchestrator.register("table").id();
            AtomicInteger ran = new AtomicInteger();
            SearchFunction<Integer, Integer> search = (pieces, context) -> {
                fillWithBatchTasks(orchestrator, id);
                orchestrator.indexing().runBatch("work", pieces, piece -> ran.incrementAndGet());
                return ran.get();
            };
            assertThat(orchestrator.submit(search, 200_000, id).join()).isEqualTo(200_000);
        }
    }

    /** Ends with the first task that finds no room and runs in this thread. */
    private static void fillWithBatchTasks(Orchestrator orchestrator, MappingId id) {
        boolean room = true;
        while (room) {
            room = !orchestrator.submit(DOUBLE, 0, id, SubmitOptions.BATCH).isDone();
        }
    }

    /** Searches one after the other: there is always one that waits. */
    private static CompletableFuture<Void> searchUntil(
            AtomicBoolean done, Orchestrator orchestrator, MappingId id, AtomicInteger searches) {
        return orchestrator
                .submit((query, context) -> searches.incrementAndGet(), 0, id)
                .thenCompose(searched -> done.get()
                        ? CompletableFuture.completedFuture(null)
                        : searchUntil(done, orchestrator, id, searches));
    }
}
