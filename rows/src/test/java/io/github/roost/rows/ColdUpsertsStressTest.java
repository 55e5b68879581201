package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.io.FaultDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers and searches beside rows that are put, replaced, promoted and evicted all the time, with room for a few in memory. Of every key a reader sees what was put last when it
 * began, or what has been put since.
 */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ColdUpsertsStressTest {
    private static final int ROWS = 300;
    private static final int KEYS = 600;
    private static final int READERS = 3;
    private static final int PUTS = 30_000;
    private static final int MIN_EVICTED = 1_000;
    private static final int MIN_BATCHES = 100;

    @TempDir
    Path folder;

    /** By key: what was put last and answered, and what was begun to be put. */
    private final AtomicLongArray done = new AtomicLongArray(KEYS);

    private final AtomicLongArray begun = new AtomicLongArray(KEYS);
    private final AtomicBoolean isOver = new AtomicBoolean();

    private long read(ColdTable cold, long seed) {
        Random random = new Random(seed);
        RowBatch own = RowBatch.onHeap();
        long batches = 0;
        try (VersionedRows.Reader reader = cold.table.reader()) {
            for (; !isOver.get() || batches <= MIN_BATCHES; batches++) {
                long[] keys = random.longs(1 + random.nextInt(40), 0, KEYS)
                        .map(key -> key % 4 == 0 ? key : key % 50)
                        .toArray();
                long[] min = new long[keys.length];
                for (int i = 0; i < keys.length; i++) {
                    min[i] = done.get((int) keys[i]);
                }
                RowBatch rows = own;
                if (batches % 3 == 0) {
                    rows = cold.fetch(keys).join();
                } else {
                    reader.getAll(keys, own);
                }
                check(rows, keys, min);
            }
        }
        return batches;
    }

    private void check(RowBatch rows, long[] keys, long[] min) {
        for (int i = 0; i < keys.length; i++) {
            long max = begun.get((int) keys[i]);
            if (!rows.isPresent(i)) {
                assertThat(min[i]).as("key %s is not there", keys[i]).isZero();
                continue;
            }
            assertThat(rows.getLong(i, 1)).as("the key of a row").isEqualTo(keys[i]);
            assertThat(rows.getLong(i, 0)).as("what was put of key %s", keys[i]).isBetween(min[i], max);
            int pad = rows.getLong(i, 0) == 1 ? ColdTable.pad(keys[i]) : pad(rows.getLong(i, 0));
            assertThat(rows.getBytes(i, 2).byteSize()).isEqualTo(pad);
        }
    }

    private static int pad(long put) {
        return put % 501 == 0 ? 9_000 : (int) (put * 31 % 900);
    }

    /** Puts on until enough rows have been evicted, which workers do meanwhile, at their own pace. */
    private void put(ColdTable cold) {
        Random random = new Random(28);
        RowWriter row = ColdTable.SCHEMA.writer();
        for (long put = 2; put < PUTS || cold.table.coldStats().evicted() <= MIN_EVICTED; put++) {
            int key = put % 3 == 0 ? random.nextInt(KEYS) : random.nextInt(50);
            begun.set(key, put);
            cold.table.upsert(key, row.setLong(0, put).setLong(1, key).setText(2, "x".repeat(pad(put))));
            done.set(key, put);
        }
    }

    @Test
    void everyReaderSeesWhatWasPutLastOrLater() throws Exception {
        FaultDevice device = new FaultDevice(28);
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 1, ROWS);
            table.publish(1);
        }
        ColdTable.copy(device, folder, 1);
        for (int key = 0; key < ROWS; key++) {
            begun.set(key, 1);
            done.set(key, 1);
        }
        try (ColdTable cold = ColdTable.ofUpserts(folder, 24_000, device, 2);
                ExecutorService threads = Executors.newFixedThreadPool(READERS)) {
            List<Future<Long>> readers = new ArrayList<>();
            try {
                for (int i = 0; i < READERS; i++) {
                    long seed = i;
                    readers.add(threads.submit(() -> read(cold, seed)));
                }
                put(cold);
            } finally {
                isOver.set(true);
            }
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).isGreaterThan(MIN_BATCHES);
            }
            assertThat(cold.table.coldStats().evicted()).isGreaterThan(MIN_EVICTED);
        }
    }
}
