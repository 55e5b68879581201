package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.system.TimeSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WorkerTimeSliceTest {
    private final long others = TimeSlice.nanos();
    private final long usual = WorkerTimeSlice.ofSearches(others);

    @BeforeEach
    void onLinuxThatHasSlices() {
        assumeThat(others)
                .as("slices, Linux 6.12 and later")
                .isBetween(TimeSlice.SHORTEST_NANOS + 1, WorkerTimeSlice.BATCH_NANOS - 1);
    }

    @Test
    void aWorkerHasAShorterSliceThanItsCallers() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            assertThat(sliceOf(orchestrator, orchestrator.register("table").id()))
                    .isEqualTo(usual)
                    .isLessThan(others);
        }
    }

    @Test
    void aWorkerHasALongSliceWhileBatchWorkRunsAndItsOwnOnceItSleeps() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            AtomicLong slice = new AtomicLong();
            CompletableFuture<Thread> worker = new CompletableFuture<>();
            orchestrator.indexing().runBatch("work", 1, piece -> {
                worker.complete(Thread.currentThread());
                slice.set(TimeSlice.nanos());
            });
            assertThat(slice).hasValue(WorkerTimeSlice.BATCH_NANOS);
            while (worker.join().getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThat(sliceOf(orchestrator, id)).isEqualTo(usual);
        }
    }

    @Test
    void aWorkerThatNeverSleepsHasItsOwnSliceAfterAsManySearchesAsGoBeforeABatchTask() {
        int perBatchTask = 32;
        List<Long> slices = new CopyOnWriteArrayList<>();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            Supplier<List<CompletableFuture<?>>> queueAll = () -> {
                List<CompletableFuture<?>> all = new ArrayList<>();
                all.add(orchestrator.submit(
                        (none, context) -> {
                            orchestrator.indexing().yieldToSearches();
                            return 0;
                        },
                        0,
                        id,
                        SubmitOptions.BATCH));
                for (int search = 0; search < 3 * perBatchTask; search++) {
                    all.add(orchestrator.submit((none, context) -> slices.add(TimeSlice.nanos()), 0, id));
                }
                return all;
            };
            orchestrator.submit((none, context) -> queueAll.get(), 0, id).join().forEach(CompletableFuture::join);
        }
        assertThat(slices)
                .hasSize(3 * perBatchTask)
                .startsWith(usual)
                .endsWith(usual)
                .contains(WorkerTimeSlice.BATCH_NANOS);
        assertThat(slices.indexOf(WorkerTimeSlice.BATCH_NANOS)).isGreaterThan(0);
        assertThat(slices.stream().filter(slice -> slice == WorkerTimeSlice.BATCH_NANOS))
                .hasSizeBetween(1, perBatchTask);
    }

    private static long sliceOf(Orchestrator orchestrator, MappingId id) {
        return orchestrator.submit((none, context) -> TimeSlice.nanos(), 0, id).join();
    }

    /** Threads of workers start each other, and run one worker after another. */
    @Test
    void aWorkerThatWasHandedOverOftenHasTheSameSlice() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            for (int wait = 0; wait < 20; wait++) {
                CompletableFuture<Integer> answer = orchestrator.indexing().newFuture();
                CompletableFuture<Integer> search = orchestrator.submit((query, context) -> answer.join(), 1, id);
                answer.completeOnTimeout(1, 1, TimeUnit.MILLISECONDS);
                search.join();
                assertThat(sliceOf(orchestrator, id)).isEqualTo(usual);
            }
        }
    }
}
