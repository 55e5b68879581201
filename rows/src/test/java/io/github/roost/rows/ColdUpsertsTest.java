package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that are put into a version whose values do not fit into memory. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ColdUpsertsTest {
    private static final int ROWS = 500;
    /** Of a quarter of a million bytes of values, and of what is put. */
    private static final long LITTLE = 30_000;
    /** What a row says of itself where it was not put. */
    private static final int SEALED = 1;

    @TempDir
    Path folder;

    private final FaultDevice device = new FaultDevice(28);
    /** What was put last, by key; null where the row was taken out. */
    private final Map<Long, Long> model = new HashMap<>();

    @BeforeEach
    void seal() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 1, ROWS);
            table.publish(1);
        }
        ColdTable.copy(device, folder, 1);
        LongStream.range(0, ROWS).forEach(key -> model.put(key, (long) SEALED));
    }

    /** A row whose length follows from the number that it was put with. */
    private static int pad(long key, long put) {
        return put == SEALED ? ColdTable.pad(key) : put % 211 == 0 ? 11_000 : (int) (put * 31 % 900);
    }

    private void upsert(VersionedRows table, long key, long put) {
        RowWriter row = ColdTable.SCHEMA.writer();
        table.upsert(key, row.setLong(0, put).setLong(1, key).setText(2, "x".repeat(pad(key, put))));
        model.put(key, put);
    }

    private void check(RowBatch rows, long[] keys) {
        for (int i = 0; i < keys.length; i++) {
            Long put = model.get(keys[i]);
            assertThat(rows.isPresent(i)).as("key %s", keys[i]).isEqualTo(put != null);
            if (put != null) {
                assertThat(rows.getLong(i, 0)).as("key %s", keys[i]).isEqualTo(put);
                assertThat(rows.getLong(i, 1)).isEqualTo(keys[i]);
                assertThat(rows.getBytes(i, 2).byteSize()).isEqualTo(pad(keys[i], put));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {LITTLE, 100_000, 4L << 20})
    void everyRowThatWasPutIsFoundWithWhateverMemory(long bytes) throws IOException {
        device.slow(100_000).shortTransfers(.2);
        Random random = new Random(bytes);
        try (ColdTable cold = ColdTable.ofUpserts(folder, bytes, device, 2)) {
            long put = SEALED;
            for (int i = 0; i < 300; i++) {
                for (int j = 0; j < 10; j++) {
                    long key = random.nextInt(2 * ROWS);
                    if (random.nextInt(8) == 0) {
                        assertThat(cold.table.remove(key)).isEqualTo(model.remove(key) != null);
                    } else {
                        upsert(cold.table, key, ++put);
                    }
                }
                long[] keys = random.longs(60, 0, 2 * ROWS)
                        .map(key -> key % 3 == 0 ? key : key % 40)
                        .toArray();
                check(i % 2 == 0 ? cold.fetch(keys).join() : cold.read(keys), keys);
            }
            long[] all = LongStream.range(0, 2 * ROWS).toArray();
            check(cold.read(all), all);
            check(cold.fetch(all).join(), all);
            assertThat(cold.table.stats().rows()).isEqualTo(model.size());
            VersionedRows.ColdStats stats = cold.table.coldStats();
            assertThat(stats.spilledBytes()).isGreaterThan(500_000);
            assertThat(stats.promoted()).isEqualTo(stats.evicted() + stats.rowsInMemory());
            assertThat(cold.table.stats().valueBytes()).isLessThanOrEqualTo(bytes + (1 << 16));
            assertThat(cold.io.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void aRowThatIsReplacedInMemoryDoesNotComeBackWhenItsMemoryIsFreed() throws IOException {
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            long[] some = LongStream.range(1, 20).toArray();
            cold.fetch(some).join();
            cold.fetch(some).join();
            assertThat(cold.table.coldStats().rowsInMemory()).isGreaterThan(10);
            for (long key : some) {
                if (key % 2 == 0) {
                    upsert(cold.table, key, 1_000 + key);
                } else {
                    cold.table.remove(key);
                    model.remove(key);
                }
            }
            long evicted = cold.table.coldStats().evicted();
            Random random = new Random(3);
            while (cold.table.coldStats().evicted() < evicted + 500) {
                long[] others = random.longs(30, 20, 200).toArray();
                check(cold.fetch(others).join(), others);
            }
            check(cold.fetch(some).join(), some);
        }
    }

    @Test
    void rowsOfEveryLengthAreFound() throws IOException {
        RowWriter row = ColdTable.SCHEMA.writer();
        int longest = Schema.MAX_ROW_BYTES - 100;
        int[] pads = {0, 4_000, 60_000, 65_000, 130_000, 131_000, 140_000, 300_000, longest, 5, longest, 131_072};
        try (ColdTable cold = ColdTable.ofUpserts(folder, 3L << 20, device, 1)) {
            for (int turn = 0; turn < 2; turn++) {
                for (int i = 0; i < pads.length; i++) {
                    cold.table.upsert(i, row.setLong(0, turn).setLong(1, i).setText(2, "y".repeat(pads[i])));
                }
                for (int reads = 0; reads < 3; reads++) {
                    for (RowBatch rows : new RowBatch[] {
                        cold.read(LongStream.range(0, pads.length).toArray()),
                        cold.fetch(LongStream.range(0, pads.length).toArray()).join()
                    }) {
                        for (int i = 0; i < pads.length; i++) {
                            assertThat(rows.getLong(i, 0)).isEqualTo(turn);
                            assertThat(rows.getText(i, 2)).isEqualTo("y".repeat(pads[i]));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aRowThatMemoryHasNoRoomForIsRefused() throws IOException {
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            RowWriter row = ColdTable.SCHEMA.writer();
            assertThatThrownBy(() -> cold.table.upsert(3, row.setLong(1, 3).setText(2, "x".repeat(20_000))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageMatching("a row must have \\d+ bytes at most, half of the memory for values, got 20020");
            check(cold.read(3), new long[] {3});
        }
    }

    @Test
    void aFullDiskRefusesTheRowAndLosesNone() throws IOException {
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            device.capacity(device.used() + Files.size(cold.file(1)) + 300_000);
            long[] all = LongStream.range(0, 2 * ROWS).toArray();
            int refused = 0;
            for (long put = 2; refused < 20; put++) {
                long key = put % (2 * ROWS);
                try {
                    upsert(cold.table, key, put);
                } catch (UncheckedIOException full) {
                    refused++;
                    assertThat(full)
                            .hasMessageContaining("key " + key + " is not put, as rows before it cannot be written")
                            .hasMessageContaining(".version-1.roost-spill.part")
                            .hasMessageContaining("ENOSPC");
                }
                if (put % 50 == 0 || refused > 0) {
                    check(cold.read(all), all);
                }
            }
            assertThat(cold.table.coldStats().spilledBytes()).isPositive();
            assertThat(cold.table.remove(7)).isTrue();
            model.remove(7L);
            device.capacity(Long.MAX_VALUE);
            for (long put = 10_000; put < 10_500; put++) {
                upsert(cold.table, put % (2 * ROWS), put);
            }
            check(cold.read(all), all);
        }
    }

    @Test
    void aFileThatCannotBeMadeRefusesTheRowAndLosesNone() throws IOException {
        Path spill = folder.resolve(".version-1.roost-spill.part");
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            Files.createDirectories(spill.resolve("in the way"));
            long[] put = {SEALED};
            assertThatThrownBy(() -> {
                        while (true) {
                            upsert(cold.table, put[0] % ROWS, ++put[0]);
                        }
                    })
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(spill.toString());
            long[] all = LongStream.range(0, ROWS).toArray();
            check(cold.fetch(all).join(), all);
            Files.delete(spill.resolve("in the way"));
            for (int i = 0; i < 300; i++) {
                upsert(cold.table, put[0] % ROWS, ++put[0]);
            }
            check(cold.fetch(all).join(), all);
        }
    }

    @Test
    void aDamagedBlockFailsTheRowsInItByName() throws IOException {
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            for (long key = 0; key < 2 * ROWS; key++) {
                upsert(cold.table, key, 4);
            }
            // Of some keys past 300: the first ones stay in memory where eviction has not got a core yet.
            long block = Files.size(cold.file(1)) + 12L * BlockIo.BLOCK_BYTES;
            device.flip(folder.resolve(".version-1.roost-spill.part"), block + 100, 3);
            RowBatch rows = cold.fetch(LongStream.range(0, ROWS).toArray()).join();
            assertThat(rows.failures()).isBetween(1, 100);
            assertThat(rows.present() + rows.failures()).isEqualTo(ROWS);
            assertThat(IntStream.range(0, ROWS).mapToObj(rows::failure).filter(Objects::nonNull))
                    .allSatisfy(failure -> assertThat(failure)
                            .hasMessageContaining("version 1")
                            .hasMessageContaining("version-1.roost-spill.part is damaged")
                            .hasMessageContaining("another checksum"));
            long[] last = LongStream.range(2 * ROWS - 50, 2 * ROWS).toArray();
            check(cold.fetch(last).join(), last);
        }
    }

    @Test
    void rowsThatWerePutAreTakenIntoTheNextVersion() throws IOException {
        try (ColdTable cold = ColdTable.ofUpserts(folder, LITTLE, device, 1)) {
            for (long put = 2; put < 900; put++) {
                upsert(cold.table, put * 7 % (2 * ROWS), put);
            }
            cold.table.remove(14);
            model.remove(14L);
            try (VersionBuilder next = cold.table.begin(2, ColdTable.SCHEMA)) {
                assertThat(next.putOthersOfCurrent()).isEqualTo(model.size());
                next.seal();
            }
        }
        try (VersionedRows table = VersionedRows.open(folder)) {
            table.publish(2);
            long[] all = LongStream.range(0, 2 * ROWS).toArray();
            RowBatch rows = RowBatch.onHeap();
            try (VersionedRows.Reader reader = table.reader()) {
                reader.getAll(all, rows);
            }
            check(rows, all);
        }
    }

    @Test
    void theFileIsItsOwnersAndGoesWithTheVersion() throws IOException {
        try (Orchestrator orchestrator = ColdTable.orchestrator(1);
                BlockIo io = BlockIo.builder(orchestrator).build()) {
            Path spill = folder.resolve(".version-1.roost-spill.part");
            try (ColdTable cold = new ColdTable(folder, LITTLE, orchestrator, io, VersionedRows.Updates.UPSERTS)) {
                for (long put = 2; put < 1_500; put++) {
                    upsert(cold.table, put % (2 * ROWS), put);
                }
                long[] all = LongStream.range(0, 2 * ROWS).toArray();
                check(cold.fetch(all).join(), all);
                check(cold.read(all), all);
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(spill)))
                        .isEqualTo("rw-------");
                ColdTable.seal(cold.table, 2, ROWS);
                ColdTable.seal(cold.table, 3, ROWS);
                cold.table.publish(2);
                assertThat(spill).exists();
                cold.table.publish(3);
                assertThat(spill).doesNotExist();
            }
            // What a process that was killed has left.
            Files.write(folder.resolve(".version-3.roost-spill.part"), new byte[4096]);
            VersionedRows.open(folder).close();
            assertThat(folder.resolve(".version-3.roost-spill.part")).doesNotExist();
        }
    }
}
