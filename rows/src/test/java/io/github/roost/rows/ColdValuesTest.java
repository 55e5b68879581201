package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Await;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that do not fit into memory. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ColdValuesTest {
    private static final int ROWS = 2_000;
    /** Of a million bytes of values. */
    private static final long TENTH = 100_000;

    @TempDir
    Path folder;

    private final FaultDevice device = new FaultDevice(28);

    @BeforeEach
    void seal() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 1, ROWS);
            table.publish(1);
        }
        ColdTable.copy(device, folder, 1);
    }

    private static long[] keys(Random random, int count) {
        // Some of them are asked for time and again, some twice, some are not there.
        return random.longs(count, 0, 100)
                .map(i -> i < 60 ? random.nextInt(150) : random.nextInt(ROWS + 50))
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(longs = {20_000, 30_000, TENTH, 600_000})
    void everyRowIsItsKeysWithWhateverMemory(long bytes) throws IOException {
        device.slow(200_000).shortTransfers(.2);
        Random random = new Random(bytes);
        try (ColdTable cold = new ColdTable(folder, bytes, device, 2)) {
            for (int i = 0; i < 200; i++) {
                long[] keys = keys(random, 1 + random.nextInt(100));
                RowBatch rows = i % 2 == 0 ? cold.fetch(keys).join() : cold.read(keys);
                ColdTable.check(rows, keys, ROWS);
            }
            VersionedRows.ColdStats stats = cold.table.coldStats();
            assertThat(stats.version()).isEqualTo(1);
            assertThat(stats.misses()).isPositive();
            assertThat(stats.blocks()).isPositive();
            assertThat(stats.promoted()).isEqualTo(stats.evicted() + stats.rowsInMemory());
            assertThat(stats.hits()).isPositive();
            if (bytes <= TENTH) {
                assertThat(stats.evicted()).isPositive();
            }
            assertThat(cold.table.stats().rows()).isEqualTo(ROWS);
            assertThat(cold.table.stats().valueBytes()).isBetween(bytes / 2, bytes);
            assertThat(cold.io.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void whatIsReadOftenStaysInMemory() throws IOException {
        try (ColdTable cold = new ColdTable(folder, TENTH, device, 1)) {
            long[] often = LongStream.range(1, 41).toArray();
            Random random = new Random(7);
            for (int i = 0; i < 300; i++) {
                cold.fetch(often).join();
                cold.fetch(random.longs(20, 0, ROWS).toArray()).join();
            }
            VersionedRows.ColdStats before = cold.table.coldStats();
            for (int i = 0; i < 20; i++) {
                cold.fetch(often).join();
            }
            VersionedRows.ColdStats after = cold.table.coldStats();
            assertThat(after.misses() - before.misses()).isLessThan(20 * 40 / 10);
            assertThat(after.spared()).isPositive();
        }
    }

    @Test
    void oneLongRowInMemoryIsNotTakenForTheLengthOfAllOthers() throws IOException {
        int others = 12_000;
        Path own = folder.resolve("long");
        try (VersionedRows table = VersionedRows.open(own);
                VersionBuilder loading = table.begin(1, ColdTable.SCHEMA)) {
            RowWriter row = loading.writer();
            loading.put(0, row.setLong(0, 1).setLong(1, 0).setText(2, "x".repeat(200_000)));
            for (long key = 1; key <= others; key++) {
                loading.put(key, row.setLong(0, 1).setLong(1, key).setText(2, "y".repeat(40)));
            }
            loading.seal();
            table.publish(1);
        }
        ColdTable.copy(device, own, 1);
        try (ColdTable cold = new ColdTable(own, 700_000, device, 1)) {
            for (int i = 0; i < 10; i++) {
                cold.fetch(0).join();
            }
            assertThat(cold.table.coldStats().rowsInMemory()).isEqualTo(1);
            RowBatch rows =
                    cold.fetch(LongStream.rangeClosed(0, others).toArray()).join();
            assertThat(rows.size()).isEqualTo(others + 1);
            assertThat(rows.getText(0, 2)).hasSize(200_000);
            assertThat(rows.getLong(others, 1)).isEqualTo(others);
        }
    }

    @Test
    void toReadAllRowsOnceDrivesOutNone() throws IOException {
        try (ColdTable cold = new ColdTable(folder, TENTH, device, 1)) {
            // Until there is no room any more.
            for (long key = 0; cold.table.coldStats().evicted() == 0; key = (key + 1) % ROWS) {
                cold.fetch(key).join();
            }
            long promoted = cold.table.coldStats().promoted();
            for (long key = ROWS - 1; key >= 0; key--) {
                cold.fetch(key).join();
            }
            // Some hashes are two rows'.
            assertThat(cold.table.coldStats().promoted() - promoted).isLessThan(ROWS / 10);
        }
    }

    @Test
    void aBatchReadsEachBlockOnceAdjacentOnesTogetherAndAllWithOneCall() throws IOException {
        try (Orchestrator orchestrator = ColdTable.orchestrator(1);
                BlockIo io = BlockIo.builder(orchestrator).build();
                ColdTable cold = new ColdTable(folder, TENTH, orchestrator, io)) {
            long[] keys = LongStream.range(0, 60).toArray();
            for (int i = keys.length; i > 1; i--) {
                int other = new Random(i).nextInt(i);
                long key = keys[i - 1];
                keys[i - 1] = keys[other];
                keys[other] = key;
            }
            ColdTable.check(cold.fetch(keys).join(), keys, ROWS);
            long bytes = LongStream.of(keys)
                    .map(key -> Values.taken(20 + ColdTable.pad(key)))
                    .sum();
            assertThat(cold.table.coldStats().blocks()).isBetween(bytes / 4_088, bytes / 4_088 + 2);
            // Keys that follow each other: so do their rows, and 32 blocks are read at once.
            assertThat(io.stats().reads()).isEqualTo((cold.table.coldStats().blocks() + 31) / 32);
            if (io.stats().backend().equals("io_uring")) {
                assertThat(io.stats().submits()).isEqualTo(1);
            }
        }
    }

    @Test
    void batchesOfMoreBlocksThanThereAreBuffersAreReadToo() throws IOException {
        device.slow(100_000);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            long[] keys = LongStream.range(0, ROWS).toArray();
            for (int i = 0; i < 3; i++) {
                CompletableFuture<RowBatch> one = cold.fetch(keys);
                CompletableFuture<RowBatch> other = cold.fetch(keys);
                ColdTable.check(one.join(), keys, ROWS);
                ColdTable.check(other.join(), keys, ROWS);
            }
        }
    }

    @Test
    void searchesAnswerWithColdRows() throws IOException {
        device.slow(1_000_000);
        long[] ids = {1_500, 3, 970, 5_000};
        SearchResult found = new SearchResult(ids, new float[] {1, 2, 3, 4});
        SearchFunction<String, SearchResult> search = (query, context) -> found;
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            SearchFunction<String, Attributes.Enriched> ofOneSlice = Attributes.after(search, cold.table);
            Search<String, SearchResult> slices = (query, context) -> new Step.Yield<>(search);
            Search<String, Attributes.Enriched> ofTwo = Attributes.after(slices, cold.table, "version", "key", "pad");
            for (int i = 0; i < 5; i++) {
                CompletableFuture<Attributes.Enriched> first = cold.orchestrator.submit(ofOneSlice, "any", cold.id);
                CompletableFuture<Attributes.Enriched> second =
                        cold.orchestrator.indexing().submitSteps(ofOneSlice, "any", cold.id, SubmitOptions.DEFAULT);
                CompletableFuture<Attributes.Enriched> third =
                        cold.orchestrator.indexing().submitSteps(ofTwo, "any", cold.id, SubmitOptions.DEFAULT);
                for (Attributes.Enriched answer :
                        new Attributes.Enriched[] {first.join(), second.join(), third.join()}) {
                    assertThat(answer.result()).isEqualTo(found);
                    ColdTable.check(answer.rows(), ids, ROWS);
                }
            }
        }
    }

    @Test
    void aSearchOfOneSliceDoesNotHoldUpItsWorker() throws IOException {
        device.slow(300_000_000);
        SearchFunction<String, SearchResult> search =
                (query, context) -> new SearchResult(new long[] {1_000}, new float[] {1});
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            for (int i = 0; i < 5; i++) {
                CompletableFuture<Attributes.Enriched> waiting =
                        cold.orchestrator.submit(Attributes.after(search, cold.table), "any", cold.id);
                SearchFunction<String, Boolean> other = (query, context) -> !waiting.isDone();
                boolean isFirst =
                        cold.orchestrator.submit(other, "any", cold.id).join();
                waiting.join();
                if (isFirst) {
                    return;
                }
            }
            throw new AssertionError("the only worker ran nothing else while rows were read");
        }
    }

    @Test
    void aBatchWhoseDeadlinePassesWhileTheDiskIsSlowNamesTheKeysThatItWaitsFor() throws IOException {
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            // Its first read puts this row into memory.
            cold.fetch(1).join();
            device.slow(1_000_000_000);
            long[] keys = LongStream.concat(LongStream.of(1, -7), LongStream.range(1_500, 1_512))
                    .toArray();
            SubmitOptions soon = SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(20));
            for (int i = 0; i < 20; i++) {
                CompletableFuture<RowBatch> late =
                        cold.orchestrator.indexing().submitSteps(cold.table.fetch(), keys, cold.id, soon);
                Throwable failure = late.handle((rows, why) -> why).join();
                // A read may happen to be fast, and a worker may come too late to begin any.
                if (failure != null && String.valueOf(failure.getMessage()).contains("waited for")) {
                    assertThat(failure)
                            .isInstanceOf(DeadlineExceededException.class)
                            .hasMessage("the deadline passed while the search waited for the rows of keys"
                                    + " 1500, 1501, 1502, 1503, 1504, 1505, 1506, 1507, 1508, 1509 and 2 more"
                                    + " of version 1 to be read from " + cold.file(1));
                    return;
                }
            }
            throw new AssertionError("no batch waited for its rows until its deadline");
        }
    }

    @Test
    void aBatchWhoseSearchIsGivenUpLeavesNoBuffers() throws Exception {
        device.slow(20_000_000);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            for (int i = 0; i < 20; i++) {
                CompletableFuture<RowBatch> given =
                        cold.fetch(LongStream.range(0, 30).toArray());
                Await.until(() -> cold.io.stats().inFlight() > 0 || given.isDone());
                given.cancel(false);
                CompletableFuture<RowBatch> late = cold.orchestrator
                        .indexing()
                        .submitSteps(
                                cold.table.fetch(),
                                new long[] {500},
                                cold.id,
                                SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1)));
                late.exceptionally(failure -> RowBatch.onHeap()).join();
            }
            Await.until(() -> cold.io.stats().inFlight() == 0 && cold.io.stats().buffersInUse() == 0);
            device.slow(0);
            long[] keys = LongStream.range(0, ROWS).toArray();
            ColdTable.check(cold.fetch(keys).join(), keys, ROWS);
        }
    }

    /** Keys whose rows need a block of the file: asked for one by one. */
    private long[] keysOf(long block) throws IOException {
        FaultDevice whole = ColdTable.copy(new FaultDevice(1), folder, 1);
        try (ColdTable cold = new ColdTable(folder, 20_000, whole.badBlock(block), 1)) {
            return LongStream.range(0, ROWS)
                    .filter(key -> cold.read(key).failures() > 0)
                    .toArray();
        }
    }

    /** That rows of some keys have failed, as those of keys that are there, and all others are those of their keys. */
    private static void assertFailed(RowBatch rows, long[] keys, long[] lost, Consumer<Throwable> why) {
        long[] failed = new long[rows.failures()];
        int at = 0;
        for (int i = 0; i < keys.length; i++) {
            int key = i;
            RowBatch.ColdReadException failure = rows.failure(i);
            if (failure == null) {
                assertThat(rows.isPresent(i)).isTrue();
                assertThat(rows.getLong(i, 1)).isEqualTo(keys[i]);
                assertThat(rows.getBytes(i, 2).byteSize()).isEqualTo(ColdTable.pad(keys[i]));
            } else {
                failed[at++] = keys[i];
                assertThat(failure.key()).isEqualTo(keys[i]);
                assertThat(failure.version()).isEqualTo(rows.version());
                why.accept(failure);
                assertThatThrownBy(() -> rows.isPresent(key)).isSameAs(failure);
                assertThatThrownBy(() -> rows.getLong(key, 0)).isSameAs(failure);
            }
        }
        assertThat(failed).containsExactly(lost);
        assertThat(rows.present()).isEqualTo(keys.length - lost.length);
        assertThatThrownBy(rows::memory).isSameAs(rows.failure(Arrays.binarySearch(keys, lost[0])));
        assertThatThrownBy(() -> rows.writeTo(OutputStream.nullOutputStream()))
                .isInstanceOf(RowBatch.ColdReadException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBlockThatCannotBeReadFailsTheRowsInItAndNoOthers(boolean isBlocking) throws IOException {
        long bad = 60;
        long[] lost = keysOf(bad);
        assertThat(lost).hasSizeBetween(1, 20);
        device.badBlock(bad);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 2)) {
            long[] all = LongStream.range(0, ROWS).toArray();
            for (int i = 0; i < 3; i++) {
                RowBatch rows = isBlocking ? cold.read(all) : cold.fetch(all).join();
                assertFailed(
                        rows,
                        all,
                        lost,
                        failure -> assertThat(failure)
                                .hasCauseInstanceOf(IOException.class)
                                .hasMessageContaining("of version 1 cannot be read")
                                .hasMessageContaining(cold.file(1).toString())
                                .hasMessageContaining("block " + bad)
                                .hasMessageContaining("EIO"));
            }
            device.badBlock(-1);
            ColdTable.check(cold.fetch(all).join(), all, ROWS);
            assertThat(cold.io.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void aBatchThatIsFilledAgainForgetsWhatHasFailed() throws IOException {
        long[] lost = keysOf(60);
        device.badBlock(60);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1);
                VersionedRows.Reader reader = cold.table.reader()) {
            RowBatch rows = RowBatch.onHeap();
            assertThat(reader.getAll(lost, rows)).isZero();
            assertThat(rows.failures()).isEqualTo(lost.length);
            device.badBlock(-1);
            assertThat(reader.getAll(lost, rows)).isEqualTo(lost.length);
            ColdTable.check(rows, lost, ROWS);
            assertThat(rows.failures()).isZero();
            assertThat(rows.failure(0)).isNull();
        }
    }

    @Test
    void aSearchAnswersWithItsNeighborsAndTheRowsThatCanBeRead() throws IOException {
        long[] lost = keysOf(60);
        device.badBlock(60);
        long[] ids = {1_500, lost[0], 970, 5_000};
        SearchFunction<String, SearchResult> search =
                (query, context) -> new SearchResult(ids, new float[] {1, 2, 3, 4});
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            SearchFunction<String, Attributes.Enriched> after = Attributes.after(search, cold.table);
            for (CompletableFuture<Attributes.Enriched> requested : List.of(
                    cold.orchestrator.submit(after, "any", cold.id),
                    cold.orchestrator.indexing().submitSteps(after, "any", cold.id, SubmitOptions.DEFAULT))) {
                Attributes.Enriched answer = requested.join();
                assertThat(answer.result().ids()).isEqualTo(ids);
                assertThat(answer.rows().getLong(0, 1)).isEqualTo(1_500);
                assertThat(answer.rows().failure(1))
                        .hasMessageStartingWith("the row of key " + lost[0] + " of version 1 cannot be read: ");
                assertThat(answer.rows().getLong(2, 1)).isEqualTo(970);
                assertThat(answer.rows().isPresent(3)).isFalse();
            }
        }
    }

    @Test
    void aRowThatCannotBeReadIsNotLeftOutOfTheNextVersion() throws IOException {
        long[] lost = keysOf(60);
        device.badBlock(60);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1);
                VersionBuilder next = cold.table.begin(2, ColdTable.SCHEMA)) {
            assertThatThrownBy(next::putOthersOfCurrent)
                    .isInstanceOfSatisfying(
                            RowBatch.ColdReadException.class,
                            e -> assertThat(lost).contains(e.key()));
            device.badBlock(-1);
            next.putOthersOfCurrent();
            next.seal();
        }
        try (VersionedRows table = VersionedRows.open(folder)) {
            table.publish(2);
            assertThat(table.stats().rows()).isEqualTo(ROWS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBlockThatWasDamagedSinceFailsTheRowsInItAndNoOthers(boolean isBlocking) throws IOException {
        Random random = new Random(3);
        long[] blocks = random.longs(6, 20, 170).toArray();
        List<long[]> lost = new ArrayList<>();
        for (long block : blocks) {
            lost.add(keysOf(block));
        }
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 2)) {
            long[] all = LongStream.range(0, ROWS).toArray();
            for (int i = 0; i < blocks.length; i++) {
                long block = blocks[i];
                // In the values, and in what follows them in a block.
                long at = 4_096L * block + random.nextInt(4_096);
                int bit = random.nextInt(8);
                device.flip(cold.file(1), at, bit);
                RowBatch rows = isBlocking ? cold.read(all) : cold.fetch(all).join();
                assertFailed(
                        rows,
                        all,
                        lost.get(i),
                        failure -> assertThat(failure)
                                .hasCauseInstanceOf(FileFormatException.class)
                                .hasMessageContaining(cold.file(1) + " is damaged")
                                .hasMessageContaining("(at byte " + 4_096 * block + ")"));
                device.flip(cold.file(1), at, bit);
                ColdTable.check(cold.fetch(all).join(), all, ROWS);
            }
        }
    }

    @Test
    void aDamagedFileIsRefusedWhenItIsLoaded() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 2, ROWS);
        }
        Path file = folder.resolve("version-2.roost");
        byte[] bytes = java.nio.file.Files.readAllBytes(file);
        bytes[bytes.length - 100_000] ^= 4;
        java.nio.file.Files.write(file, bytes);
        try (ColdTable cold = new ColdTable(folder, TENTH, device, 1)) {
            assertThatThrownBy(() -> cold.table.publish(2))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining("has another checksum");
            assertThat(cold.table.current()).isEqualTo(1);
            ColdTable.check(cold.fetch(7).join(), new long[] {7}, ROWS);
        }
    }

    @Test
    void aVersionThatIsUnloadedWhileItIsReadFailsNobodyElse() throws Exception {
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 2, ROWS);
            ColdTable.seal(table, 3, ROWS);
        }
        ColdTable.copy(device, folder, 2);
        ColdTable.copy(device, folder, 3);
        device.slow(5_000_000);
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 2)) {
            long[] keys = LongStream.range(0, 300).toArray();
            CompletableFuture<RowBatch> ofFirst = cold.fetch(keys);
            cold.table.publish(2);
            CompletableFuture<RowBatch> ofSecond = cold.fetch(keys);
            cold.table.publish(3);
            cold.table.unload(2);
            for (CompletableFuture<RowBatch> read : List.of(ofFirst, ofSecond)) {
                try {
                    ColdTable.check(read.join(), keys, ROWS);
                } catch (CompletionException e) {
                    assertThat(e.getCause()).isInstanceOf(VersionedRows.VersionGoneException.class);
                }
            }
            RowBatch now = cold.fetch(keys).join();
            ColdTable.check(now, keys, ROWS);
            assertThat(now.version()).isEqualTo(3);
        }
    }

    @Test
    void aTableIsClosedWhileRowsAreRead() throws Exception {
        for (int i = 0; i < 20; i++) {
            FaultDevice disk = device.afterCrash().slow(3_000_000);
            try (ColdTable cold = new ColdTable(folder, 20_000, disk, 2)) {
                long[] keys = LongStream.range(i, 400).toArray();
                CompletableFuture<RowBatch> read = cold.fetch(keys);
                LockSupport.parkNanos(i % 4 * 1_000_000L);
                cold.table.close();
                try {
                    ColdTable.check(read.join(), keys, ROWS);
                } catch (CompletionException e) {
                    assertThat(e.getCause())
                            .isInstanceOfAny(VersionedRows.VersionGoneException.class, IllegalStateException.class);
                }
                Await.until(() -> cold.io.stats().buffersInUse() == 0);
            }
        }
    }

    @Test
    void theRowsOfACurrentVersionAreTakenIntoTheNext() throws IOException {
        try (ColdTable cold = new ColdTable(folder, TENTH, device, 1)) {
            try (VersionBuilder next = cold.table.begin(2, ColdTable.SCHEMA)) {
                next.put(5, next.writer().setLong(0, 2).setLong(1, 5));
                assertThat(next.putOthersOfCurrent()).isEqualTo(ROWS - 1);
                next.seal();
            }
        }
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            table.publish(2);
            RowBatch rows = RowBatch.onHeap();
            assertThat(reader.getAll(LongStream.range(0, ROWS).toArray(), rows)).isEqualTo(ROWS);
            for (int i = 0; i < ROWS; i++) {
                assertThat(rows.getLong(i, 1)).isEqualTo(i);
                assertThat(rows.getLong(i, 0)).isEqualTo(i == 5 ? 2 : 1);
            }
        }
    }

    @Test
    void memoryForAllValuesKeepsAllInMemory() throws IOException {
        try (ColdTable cold = new ColdTable(folder, 4L << 20, device, 1)) {
            long[] keys = LongStream.range(0, ROWS).toArray();
            ColdTable.check(cold.fetch(keys).join(), keys, ROWS);
            ColdTable.check(cold.read(keys), keys, ROWS);
            assertThat(cold.table.coldStats()).isEqualTo(new VersionedRows.ColdStats(1, 0, 0, 0, 0, 0, 0, 0, 0));
            assertThat(cold.io.stats().reads()).isZero();
        }
    }

    @Test
    void memoryThatCannotBeIsRefused() throws IOException {
        try (Orchestrator orchestrator = ColdTable.orchestrator(1);
                BlockIo io = device.io(orchestrator, 8)) {
            for (long bytes : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> VersionedRows.builder(folder).valueMemory(bytes, orchestrator, io))
                        .hasMessageStartingWith("valueMemory must be between 1 and ")
                        .hasMessageEndingWith("got %,d".formatted(bytes));
            }
            // The longest row has 9,020 bytes, and takes 9,048.
            assertThatThrownBy(() -> VersionedRows.builder(folder)
                            .valueMemory(18_000, orchestrator, io)
                            .open())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("twice the longest row of " + folder.resolve("version-1.roost"))
                    .hasMessageContaining("18352 bytes, got 18000");
            try (VersionedRows table = VersionedRows.builder(folder)
                    .valueMemory(18_352, orchestrator, io)
                    .open()) {
                assertThat(table.current()).isEqualTo(1);
            }
        }
    }

    @Test
    void rowsAreReadAfterTheOrchestratorWasClosed() throws IOException {
        try (ColdTable cold = new ColdTable(folder, 20_000, device, 1)) {
            cold.orchestrator.close();
            long[] keys = LongStream.range(0, ROWS).toArray();
            for (int i = 0; i < 3; i++) {
                ColdTable.check(cold.read(keys), keys, ROWS);
            }
        }
    }
}
