package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.index.disk.update.LogFiles;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Await;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When checkpoints are written, and what becomes of a table after a failure that no disk has. */
@Timeout(value = 40, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiskUpdatesLogTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 60;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 200, 6, 21);

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder().build();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private BlockIo io(FaultDevice device) {
        return device.io(orchestrator, 256);
    }

    private FaultDevice built() throws IOException {
        FaultDevice device = new FaultDevice(1);
        try (BlockIo io = io(device)) {
            DiskTable.builder()
                    .degree(16)
                    .build(
                            orchestrator,
                            io,
                            FILE,
                            Arrays.copyOf(ROWS.ids(), BUILT),
                            Arrays.copyOf(ROWS.vectors(), BUILT));
        }
        return device.afterCrash();
    }

    private MutableDiskTable open(BlockIo io, int maxLogBlocks) throws IOException {
        return DiskTable.open(orchestrator, io, "table", FILE, DiskTable.DEFAULT_CHANGED_PAGES, maxLogBlocks);
    }

    private int sizeAtCheckpoint(FaultDevice device) throws IOException {
        try (BlockIo io = io(device.afterCrash());
                DiskTable table = DiskTable.openReadOnly(orchestrator, io, "table", FILE)) {
            return table.size();
        }
    }

    private int size(FaultDevice device) throws IOException {
        try (BlockIo io = io(device.afterCrash());
                MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
            return table.size();
        }
    }

    private static void awaitCheckpoints(MutableDiskTable table, long count) {
        Await.until(() -> table.diskStats().checkpoints() >= count);
    }

    @Test
    void removesThatChangeNoPageBeginACheckpointWhenTheLogIsLong() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device);
                MutableDiskTable table = open(io, 8)) {
            for (int i = 1; i <= 4; i++) {
                for (int update = 0; update < 10; update++) {
                    assertThat(table.remove(-1)).as("there is no such row").isFalse();
                }
                awaitCheckpoints(table, i);
            }
            try (var log = io.open(LogFiles.pathOf(FILE, 1))) {
                assertThat(log.blocks()).isLessThan(40);
            }
        }
    }

    @Test
    void aDeleteThatChangesNoPageIsInTheCheckpointOfClose() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device);
                MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
            assertThat(table.remove(Rows.id(3))).isTrue();
            assertThat(table.diskStats().changedPages()).isZero();
        }
        assertThat(sizeAtCheckpoint(device)).isEqualTo(BUILT - 1);
        FaultDevice found = device.afterCrash();
        try (BlockIo io = io(found);
                MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
            assertThat(table.size()).isEqualTo(BUILT - 1);
        }
        assertThat(found.changes()).as("nothing was written").isZero();
    }

    @Test
    void aLongLogIsAppliedAsAWholeBeforeTheCheckpointThatItBegins() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device);
                MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
            for (int row = BUILT; row < 200; row++) {
                table.put(Rows.id(row), ROWS.vectors()[row]);
            }
            FaultDevice crashed = device.afterCrash();
            try (BlockIo other = io(crashed);
                    MutableDiskTable same = open(other, 8)) {
                awaitCheckpoints(same, 1);
                assertThat(size(crashed)).isEqualTo(200);
            }
        }
    }

    @Test
    void anErrorInTheMidstOfACommitFailsWhatIsPendingAndTheTableCloses() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device)) {
            MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS);
            table.put(Rows.id(100), ROWS.vectors()[100]);
            device.writesThrow(new OutOfMemoryError("as a test has it"));
            assertThatThrownBy(() ->
                            table.putLater(Rows.id(101), ROWS.vectors()[101]).get())
                    .hasCauseInstanceOf(OutOfMemoryError.class);
            device.writesThrow(null);
            assertThatThrownBy(() -> table.put(Rows.id(102), ROWS.vectors()[102]))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("table table takes no more updates, after a failure: ")
                    .hasMessageContaining("as a test has it");
            assertThatThrownBy(() -> table.checkpoint().get()).hasMessageContaining("takes no more updates");
            assertThat(table.search(ROWS.query(1), 10).get().size()).isEqualTo(10);
            table.close();
        }
        assertThat(sizeAtCheckpoint(device)).as("there was no checkpoint").isEqualTo(BUILT);
        assertThat(size(device)).isEqualTo(BUILT + 1);
    }

    @Test
    void writesThatFailFailTheirUpdateAndTheirCheckpointAndLaterOnesDoNot() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device)) {
            try (MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
                // The first update writes the superblock, in as many tries.
                device.badWrites(3);
                assertThatThrownBy(() -> table.put(Rows.id(100), ROWS.vectors()[100]))
                        .hasMessageContaining("was not written")
                        .hasMessageContaining("EIO");
                assertThat(table.put(Rows.id(100), ROWS.vectors()[100])).isTrue();
                device.badWrites(1);
                assertThatThrownBy(() -> table.checkpoint().join()).hasMessageContaining("EIO");
                table.checkpoint().join();
            }
        }
        assertThat(sizeAtCheckpoint(device)).isEqualTo(BUILT + 1);
    }

    @Test
    void aCheckpointAskedForWhileTheTableIsCopiedIsWrittenAfterTheCopy() throws Exception {
        FaultDevice device = built();
        try (BlockIo io = io(device);
                MutableDiskTable table = open(io, DiskUpdates.MAX_LOG_BLOCKS)) {
            table.checkpoint().join();
            // The first block that the copy reads.
            device.holdNextRead(0);
            CompletableFuture<Void> copied = CompletableFuture.runAsync(() -> {
                try {
                    table.save(folder.resolve("copy"));
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            });
            device.awaitHeld();
            assertThat(table.put(Rows.id(100), ROWS.vectors()[100])).isTrue();
            CompletableFuture<Void> checkpoint = table.checkpoint();
            assertThat(checkpoint).isNotDone();
            device.release();
            copied.join();
            checkpoint.join();
            assertThat(sizeAtCheckpoint(device)).isEqualTo(BUILT + 1);
        }
    }
}
