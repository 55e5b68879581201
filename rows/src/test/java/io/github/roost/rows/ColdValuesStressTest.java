package io.github.roost.rows;

import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers and searches, beside rows that are promoted and evicted all the time, and beside versions that come and go. */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ColdValuesStressTest {
    private static final int ROWS = 1_000;
    private static final int READERS = 3;
    private static final int BATCHES = 4_000;
    private static final int VERSIONS = 8;

    @TempDir
    Path folder;

    private final AtomicInteger batches = new AtomicInteger();

    private void read(ColdTable cold, long seed) {
        Random random = new Random(seed);
        RowBatch rows = RowBatch.onHeap();
        try (VersionedRows.Reader reader = cold.table.reader()) {
            for (int i = 0; i < BATCHES; i++) {
                batches.incrementAndGet();
                long[] keys = random.longs(1 + random.nextInt(40), 0, 1_000)
                        .map(key -> key < 700 ? key % 120 : key)
                        .toArray();
                try {
                    if (i % 4 == 0) {
                        ColdTable.check(cold.fetch(keys).join(), keys, ROWS);
                    } else {
                        reader.getAll(keys, rows);
                        ColdTable.check(rows, keys, ROWS);
                    }
                } catch (VersionedRows.VersionGoneException gone) {
                    // Versions come faster than rows: the next batch is of a newer one.
                } catch (java.util.concurrent.CompletionException e) {
                    if (!(e.getCause() instanceof VersionedRows.VersionGoneException)) {
                        throw e;
                    }
                }
            }
        }
    }

    private interface Change {
        void run(ColdTable cold) throws Exception;
    }

    private void readBeside(FaultDevice device, long bytes, Change change) throws Exception {
        try (ColdTable cold = new ColdTable(folder, bytes, device, 2);
                ExecutorService threads = Executors.newFixedThreadPool(READERS)) {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                long seed = i;
                readers.add(threads.submit(() -> read(cold, seed)));
            }
            change.run(cold);
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
    }

    private FaultDevice sealed(int versions) throws IOException {
        FaultDevice device = new FaultDevice(28);
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (int version = 1; version <= versions; version++) {
                ColdTable.seal(table, version, ROWS);
                ColdTable.copy(device, folder, version);
            }
            table.publish(1);
        }
        return device;
    }

    @Test
    void everyRowIsItsKeysBesideEviction() throws Exception {
        // Room for a few rows: every promotion reuses memory that was another's a moment ago.
        readBeside(sealed(1), 20_000, cold -> {});
    }

    @Test
    void everyBatchIsOfOneVersionBesideEviction() throws Exception {
        readBeside(sealed(VERSIONS), 40_000, cold -> {
            for (long version = 2; version <= VERSIONS; version++) {
                long before = (version - 1) * BATCHES / VERSIONS;
                Await.until(() -> batches.get() >= before);
                cold.table.publish(version);
                if (version % 2 == 0) {
                    cold.table.unload(version - 1);
                }
            }
        });
    }
}
