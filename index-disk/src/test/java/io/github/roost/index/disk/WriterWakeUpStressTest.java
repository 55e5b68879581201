package io.github.roost.index.disk;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.index.disk.update.DiskWriter;
import io.github.roost.index.disk.update.UpdateThread;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Updates that come one at a time, each as the writer is about to find nothing to do, or waits for reads: none is left lying, wherever
 * the writer runs, and however often that changes.
 */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WriterWakeUpStressTest {
    private static final Duration TIME = Duration.ofSeconds(Effort.times(2));
    private static final Duration MAX_WAIT = Duration.ofSeconds(20);
    private static final int THREADS = 3;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 400, 12, 5);

    @TempDir
    private Path folder;

    /** What is done with a table. */
    private interface Stress {
        void run(MutableDiskTable table) throws Exception;
    }

    private static void inTable(Path file, Stress stress) throws Exception {
        Orchestrator orchestrator = Orchestrator.builder().build();
        try (BlockIo io = BlockIo.builder(orchestrator).build()) {
            DiskTable.builder()
                    .build(orchestrator, io, file, Arrays.copyOf(ROWS.ids(), 300), Arrays.copyOf(ROWS.vectors(), 300));
            try (MutableDiskTable table =
                    DiskTable.open(orchestrator, io, "table", file, 20, DiskUpdates.MAX_LOG_BLOCKS)) {
                stress.run(table);
            }
        }
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    @Test
    void whatIsAddedAsTheWriterStopsIsDone() throws Exception {
        inTable(folder.resolve("table"), table -> {
            for (UpdateThread thread : List.of(UpdateThread.WORKERS, UpdateThread.OWN)) {
                table.updateThread(thread);
                DiskWriter writer = requireNonNull(table.updates()).writer();
                AtomicInteger done = new AtomicInteger();
                long end = System.nanoTime() + TIME.toNanos();
                for (int added = 1; System.nanoTime() - end < 0; added++) {
                    // As soon as the one before is done, which is when the writer finds that there is no more. Nobody
                    // else wakes it.
                    writer.add(new DiskWriter.Work.Run(done::incrementAndGet, false, failed -> {}));
                    long late = System.nanoTime() + MAX_WAIT.toNanos();
                    while (done.get() < added) {
                        assertThat(System.nanoTime() - late)
                                .as("work number %d was left lying", added)
                                .isNegative();
                        Thread.onSpinWait();
                    }
                }
            }
        });
    }

    @Test
    void noUpdateIsLeftLying() throws Exception {
        inTable(folder.resolve("table"), table -> {
            try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
                List<Future<Integer>> counts = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    int number = thread;
                    counts.add(threads.submit(() -> update(table, number)));
                }
                int updates = 0;
                for (Future<Integer> count : counts) {
                    updates += count.get();
                }
                assertThat(updates).isGreaterThan(THREADS * 10);
                assertThat(table.diskStats().updates()).isEqualTo(updates);
            }
        });
    }

    private static int update(MutableDiskTable table, int thread) throws Exception {
        Random random = new Random(thread);
        long end = System.nanoTime() + TIME.toNanos();
        int updates = 0;
        while (System.nanoTime() - end < 0) {
            int row = random.nextInt(100) * THREADS + thread;
            if (random.nextInt(64) == 0) {
                table.updateThread(UpdateThread.values()[random.nextInt(2)]);
            }
            // Were it left lying, this would not end; a table that nobody else wakes has nothing to find it by.
            if (random.nextBoolean()) {
                table.putLater(Rows.id(row), ROWS.vectors()[row]).get(60, TimeUnit.SECONDS);
            } else {
                table.removeLater(Rows.id(row)).get(60, TimeUnit.SECONDS);
            }
            updates++;
            if (random.nextBoolean()) {
                LockSupport.parkNanos(random.nextInt(200_000));
            }
        }
        return updates;
    }
}
