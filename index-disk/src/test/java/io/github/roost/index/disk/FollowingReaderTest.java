package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tables that were opened read-only beside one that is updated: the first component of each row is the round in which it was written, and rows
 * are written in the order of their ids.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowingReaderTest {
    private static final int ROWS = 120;
    private static final int DIMENSION = 24;

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final BlockIo io = BlockIo.builder(orchestrator).build();
    private final Random random = new Random(5);
    private Path file = Path.of("");

    @BeforeEach
    void build() throws IOException {
        file = folder.resolve("table");
        float[][] rows = new float[ROWS][];
        for (int row = 0; row < ROWS; row++) {
            rows[row] = row(0);
        }
        DiskTable.builder()
                .build(orchestrator, io, file, LongStream.range(0, ROWS).toArray(), rows);
    }

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        io.close();
    }

    private float[] row(int round) {
        float[] row = new float[DIMENSION];
        for (int i = 1; i < DIMENSION; i++) {
            row[i] = (float) random.nextGaussian();
        }
        row[0] = round;
        return row;
    }

    private MutableDiskTable writer() throws IOException {
        return DiskTable.open(orchestrator, io, "writer", file);
    }

    private DiskTable reader() throws IOException {
        return DiskTable.openReadOnly(orchestrator, io, "reader", file);
    }

    private void write(MutableDiskTable writer, int round) {
        CompletableFuture<?>[] done = new CompletableFuture<?>[ROWS];
        for (int row = 0; row < ROWS; row++) {
            done[row] = writer.putLater(row, row(round));
        }
        CompletableFuture.allOf(done).join();
        writer.checkpoint().join();
    }

    private static int round(DiskTable table, long row) {
        float @Nullable [] vector = table.vector(row);
        return (int) Objects.requireNonNull(vector, "row " + row)[0];
    }

    private static void check(DiskTable table, int round) throws IOException {
        table.verify();
        for (int row = 0; row < ROWS; row++) {
            assertThat(round(table, row)).as("row " + row).isEqualTo(round);
        }
        assertThat(table.diskStats().damagedPages()).isEmpty();
    }

    @Test
    void aReaderKeepsItsCheckpointUntilItIsRefreshed() throws Exception {
        try (DiskTable before = reader();
                MutableDiskTable writer = writer();
                DiskTable beside = reader()) {
            for (int round = 1; round <= 6; round++) {
                write(writer, round);
                check(before, 0);
                check(beside, 0);
            }
            long kept = writer.diskStats().obsoleteBytes();
            assertThat(kept).isGreaterThan(4L * ROWS * DIMENSION * Float.BYTES);
            assertThat(before.refresh()).isTrue();
            check(before, 6);
            assertThat(before.refresh()).isFalse();
            check(beside, 0);
            assertThat(beside.refresh()).isTrue();
            assertThat(writer.refresh()).isFalse();
            write(writer, 7);
            assertThat(writer.diskStats().obsoleteBytes()).isLessThan(kept);
            check(before, 6);
            check(beside, 6);
        }
    }

    @Test
    void theFileGrowsNoMoreWhenItsReadersFollow() throws Exception {
        try (MutableDiskTable writer = writer();
                DiskTable reader = reader()) {
            long bytes = 0;
            for (int round = 1; round <= 12; round++) {
                write(writer, round);
                assertThat(reader.refresh()).isTrue();
                bytes = round == 6 ? Files.size(file) : bytes;
            }
            assertThat(Files.size(file)).isEqualTo(bytes);
            check(reader, 12);
        }
    }

    /** The blocks of the checkpoints that the writer before it has left are known no more. */
    @Test
    void aReaderKeepsItsCheckpointWhenTheWriterIsAnother() throws Exception {
        try (MutableDiskTable writer = writer()) {
            write(writer, 1);
        }
        try (DiskTable reader = reader()) {
            for (int round = 2; round <= 5; round++) {
                try (MutableDiskTable writer = writer()) {
                    write(writer, round);
                    write(writer, round);
                }
                check(reader, 1);
            }
            assertThat(reader.refresh()).isTrue();
            check(reader, 5);
        }
    }

    @Test
    void aSearchEndsOnTheCheckpointOnWhichItBegan() throws Exception {
        // Of its own: the search blocks a worker.
        Orchestrator readers = Orchestrator.builder().build();
        try (BlockIo reads = BlockIo.builder(readers).build();
                MutableDiskTable writer = writer();
                DiskTable reader = DiskTable.openReadOnly(readers, reads, "reader", file)) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            CompletableFuture<SearchResult> search =
                    reader.search(SearchRequest.of(row(0), 10).effort(200).filter(IdFilter.of(id -> {
                        begun.countDown();
                        try {
                            goOn.await();
                        } catch (InterruptedException stop) {
                            Thread.currentThread().interrupt();
                        }
                        return true;
                    })));
            begun.await();
            for (long row = 0; row < ROWS; row++) {
                float[] far = row(1_000);
                writer.put(row, far);
            }
            for (int round = 1_001; round < 1_005; round++) {
                write(writer, round);
                assertThat(reader.refresh()).isTrue();
            }
            goOn.countDown();
            SearchResult found = search.get();
            assertThat(found.size()).isEqualTo(10);
            for (int at = 0; at < found.size(); at++) {
                assertThat(found.distances()[at]).as("not of a later round").isLessThan(900f);
            }
            assertThat(reader.diskStats().damagedPages()).isEmpty();
            check(reader, 1_004);
        } finally {
            readers.close();
        }
    }

    @Test
    void aReaderSavesItsCheckpointBesideTheWriter() throws Exception {
        try (MutableDiskTable writer = writer();
                DiskTable reader = reader()) {
            write(writer, 1);
            write(writer, 2);
            Path copy = folder.resolve("copy");
            reader.save(copy);
            try (DiskTable saved = DiskTable.openReadOnly(orchestrator, io, "saved", copy)) {
                check(saved, 0);
            }
        }
    }

    @Test
    void aReaderOfAFileThatWasReplacedSaysSoAndGoesOn() throws Exception {
        Path other = Files.copy(file, folder.resolve("other"));
        try (DiskTable reader = reader()) {
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            assertThatThrownBy(reader::refresh)
                    .isInstanceOf(IOException.class)
                    .hasMessage(file + " is another file than table reader has open: open it again");
            check(reader, 0);
        }
    }

    /** Of what one thread writes in order, each checkpoint has all up to some row; and it stays so however many follow. */
    @Test
    void everyCheckpointThatAReaderMeetsIsWhole() throws Exception {
        int rounds = 3 * Effort.times(3);
        try (MutableDiskTable writer = DiskTable.open(orchestrator, io, "writer", file, 4, DiskUpdates.MAX_LOG_BLOCKS);
                DiskTable follows = reader();
                DiskTable lags = reader()) {
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                for (int round = 1; round <= rounds; round++) {
                    write(writer, round);
                }
            });
            int seen = 0;
            for (boolean isLast = false; !isLast; seen++) {
                isLast = writing.isDone();
                follows.refresh();
                checkOrder(follows);
                if (seen % 7 == 0) {
                    lags.refresh();
                }
                checkOrder(lags);
            }
            writing.join();
            assertThat(seen).isGreaterThan(5);
            check(follows, rounds);
        }
    }

    private static void checkOrder(DiskTable table) throws IOException {
        table.verify();
        int first = round(table, 0);
        int last = first;
        for (int row = 1; row < ROWS; row++) {
            int round = round(table, row);
            assertThat(round).as("row " + row).isIn(last, first - 1);
            last = round;
        }
        assertThat(table.diskStats().damagedPages()).isEmpty();
    }
}
