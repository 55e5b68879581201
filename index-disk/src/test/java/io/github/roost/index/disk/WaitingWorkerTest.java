package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A task that waits for its table leaves the only worker to what it waits for. */
@Timeout(value = 40, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingWorkerTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 60;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 100, 6, 21);

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .build();
    private final Registration tasks = orchestrator.register("tasks");
    private final FaultDevice device = new FaultDevice(1);

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    /** Waits by a plain future, in which the caller does not run the task itself. */
    private <T> T onWorker(Callable<T> task) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        orchestrator.executor(tasks.id()).execute(() -> {
            try {
                done.complete(task.call());
            } catch (Throwable failed) {
                done.completeExceptionally(failed);
            }
        });
        return done.get();
    }

    private MutableDiskTable open(BlockIo io) throws IOException {
        return DiskTable.open(orchestrator, io, "table", FILE);
    }

    private void build(BlockIo io) throws IOException {
        DiskTable.builder()
                .build(orchestrator, io, FILE, Arrays.copyOf(ROWS.ids(), BUILT), Arrays.copyOf(ROWS.vectors(), BUILT));
    }

    @Test
    void aTaskWaitsForAnUpdateACheckpointOrACopy() throws Exception {
        Path copy = folder.resolve("copy");
        try (BlockIo io = device.io(orchestrator, 256)) {
            build(io);
            try (MutableDiskTable table = open(io)) {
                // Each in a task of its own: one that has waited once may have left the worker.
                assertThat(onWorker(() -> table.put(Rows.id(BUILT), ROWS.vectors()[BUILT])))
                        .isTrue();
                assertThat(onWorker(() -> table.checkpoint()
                                .handle((done, failed) -> failed == null)
                                .join()))
                        .isTrue();
                assertThat(onWorker(() -> {
                            table.save(copy);
                            return table.diskStats().checkpoints();
                        }))
                        .isEqualTo(2);
                assertThat(Files.size(copy)).isPositive();
            }
        }
    }
}
