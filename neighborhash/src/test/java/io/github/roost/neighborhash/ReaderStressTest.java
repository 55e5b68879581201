package io.github.roost.neighborhash;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.neighborhash.kernel.BatchLookup;
import io.github.roost.neighborhash.kernel.BatchLookups;
import io.github.roost.testkit.Jcstress;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Readers beside a writer: the jcstress tests of package {@code stress}, in JVMs of their own, and batches while a table changes. */
@Tag("stress")
class ReaderStressTest {
    private static final int KEYS = 3_000;

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void noInterleavingShowsAReaderAnotherKeysPayload(@TempDir Path reports) throws IOException, InterruptedException {
        String report = Jcstress.run("io\\.github\\.roost\\.neighborhash\\..*", 200, reports);
        assertThat(report)
                .contains("MoveStress.AHostTakesALodgersSlot", "MoveStress.AReaderGoesBy")
                .contains("MoveStress.AReaderLooksForTheHost", "MoveStress.TheTableGrows")
                .contains("MoveStress.APayloadIsReplaced", "MoveStress.ALodgerIsKickedOffALine");
    }

    /**
     * Half of the keys are always there, with a payload that tells the key and counts up; the others come and go, so that keys
     * move and the table is rebuilt.
     */
    @ParameterizedTest
    @MethodSource("lookups")
    @Timeout(value = 1, unit = TimeUnit.MINUTES)
    void everyBatchBesideAWriterHasPayloadsOfItsKeysThatNeverGoBack(BatchLookup lookup) throws Exception {
        AtomicBoolean isDone = new AtomicBoolean();
        SplittableRandom random = new SplittableRandom(11);
        long[] keys = random.longs(KEYS).toArray();
        try (NeighborHashMap table = NeighborHashMap.builder(0).lookup(lookup).build();
                NeighborHashMap.Reader reader = table.reader();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            for (int i = 0; i < KEYS; i += 2) {
                table.put(keys[i], i);
            }
            Future<Long> batches = other.submit(() -> readUntil(isDone, reader, keys));
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_500);
            long round = 0;
            while (System.nanoTime() < end) {
                round++;
                for (int i = 0; i < KEYS; i++) {
                    if (i % 2 == 0) {
                        table.put(keys[i], round * KEYS + i);
                    } else if (random.nextBoolean()) {
                        table.put(keys[i] + round % 7, round * KEYS + i);
                    } else {
                        table.remove(keys[i] + round % 5);
                    }
                }
            }
            isDone.set(true);
            assertThat(batches.get()).isPositive();
            assertThat(table.stats().rebuilds()).isGreaterThan(3);
        }
    }

    static List<BatchLookup> lookups() {
        return BatchLookups.available();
    }

    private static long readUntil(AtomicBoolean isDone, NeighborHashMap.Reader reader, long[] keys) {
        long[] last = new long[KEYS];
        long[] found = new long[KEYS];
        long batches = 0;
        while (!isDone.get()) {
            reader.getAll(MemorySegment.ofArray(keys), KEYS, MemorySegment.ofArray(found));
            for (int i = 0; i < KEYS; i++) {
                if (found[i] != NeighborHashMap.ABSENT) {
                    assertThat(found[i] % KEYS).isEqualTo(i);
                    assertThat(found[i]).isGreaterThanOrEqualTo(last[i]);
                    last[i] = found[i];
                } else {
                    assertThat(i % 2).as("a key that is always there").isOne();
                }
            }
            batches++;
        }
        return batches;
    }
}
