package io.github.roost.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers beside versions that come and go, and beside upserts. */
@Tag("stress")
class TableReaderStressTest {
    private static final Schema SCHEMA =
            Schema.of(Column.ofLong("version"), Column.ofLong("key"), Column.ofText("pad"));
    private static final int KEYS = 2_000;
    private static final int READERS = 3;
    private static final int VERSIONS = 30;

    @TempDir
    Path folder;

    private static void publish(VersionedRows table, long version) throws IOException {
        try (VersionBuilder loading = table.begin(version, SCHEMA)) {
            RowWriter row = loading.writer();
            for (long key = 0; key < KEYS; key++) {
                loading.put(key, row(row, version, key));
            }
            loading.seal();
        }
        table.publish(version);
    }

    private static RowWriter row(RowWriter row, long version, long key) {
        return row.setLong(0, version).setLong(1, key).setText(2, "x".repeat((int) (key % 50)));
    }

    private static void readUntil(AtomicBoolean done, VersionedRows table, boolean oneVersion, long seed) {
        Random random = new Random(seed);
        long[] keys = new long[1_000];
        RowBatch rows = RowBatch.onHeap();
        try (VersionedRows.Reader reader = table.reader()) {
            for (long last = 0; !done.get(); ) {
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = random.nextInt(KEYS);
                }
                // The older one is given back as soon as the next is there.
                boolean isOlder = oneVersion && random.nextInt(4) > 0;
                long version = isOlder ? table.liveVersions().getLast() : 0;
                try {
                    assertEquals(keys.length, reader.getAll(version, keys, rows, List.of()));
                } catch (VersionedRows.VersionGoneException e) {
                    assertTrue(isOlder);
                    continue;
                }
                if (!isOlder) {
                    assertTrue(rows.version() >= last);
                    last = rows.version();
                }
                for (int i = 0; i < keys.length; i++) {
                    assertEquals(keys[i], rows.getLong(i, 1));
                    assertEquals(keys[i] % 50, rows.getBytes(i, 2).byteSize());
                    if (oneVersion) {
                        assertEquals(rows.version(), rows.getLong(i, 0));
                    }
                }
            }
        }
    }

    private interface Change {
        void run(VersionedRows table) throws IOException;
    }

    private void readBeside(VersionedRows.Updates updates, Change change) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        try (VersionedRows table =
                        VersionedRows.builder(folder).updates(updates).open();
                ExecutorService threads = Executors.newFixedThreadPool(READERS)) {
            publish(table, 1);
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                long seed = i;
                readers.add(
                        threads.submit(() -> readUntil(done, table, updates == VersionedRows.Updates.VERSIONS, seed)));
            }
            try {
                change.run(table);
            } finally {
                done.set(true);
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
    }

    @Test
    void everyBatchIsOfOneVersionThatIsNotFreedMeanwhile() throws Exception {
        readBeside(VersionedRows.Updates.VERSIONS, table -> {
            for (long version = 2; version <= VERSIONS; version++) {
                publish(table, version);
            }
        });
    }

    @Test
    void everyRowIsItsKeysBesideUpserts() throws Exception {
        readBeside(VersionedRows.Updates.UPSERTS, table -> {
            Random random = new Random(28);
            RowWriter row = SCHEMA.writer();
            for (long version = 2; version <= 6; version++) {
                for (int i = 0; i < 20_000; i++) {
                    long key = random.nextInt(KEYS);
                    table.upsert(key, row(row, i, key));
                    // Keys that nobody reads, so that the index moves and grows.
                    table.upsert(random.nextLong() | 1L << 40, row);
                }
                publish(table, version);
            }
        });
    }

    @Test
    void aTableIsClosedBesideReaders() throws Exception {
        for (int round = 0; round < 20; round++) {
            VersionedRows table = VersionedRows.open(folder.resolve("round" + round));
            publish(table, 1);
            try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
                Future<?> reader = threads.submit(() -> readUntil(new AtomicBoolean(), table, true, 1));
                while (table.liveVersions().isEmpty()) {
                    Thread.onSpinWait();
                }
                table.close();
                try {
                    reader.get();
                } catch (ExecutionException e) {
                    Throwable cause = Objects.requireNonNull(e.getCause());
                    assertEquals("the table is closed", cause.getMessage());
                }
            }
        }
    }
}
