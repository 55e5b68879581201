package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.disk.format.CodeErrors;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Await;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose rows have come after the build, or have moved away from it. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrownTableTest extends OnDevice {
    private static final int ROWS = 1_000;

    /** Rows of which those after some lie elsewhere. */
    private static float[][] rows(int built, float moved) {
        float[][] rows = gaussian(ROWS, 24, 9);
        for (int row = built; row < ROWS; row++) {
            for (int i = 0; i < 24; i++) {
                rows[row][i] += moved;
            }
        }
        return rows;
    }

    /** Number of rows that are found first by their own vectors. */
    private static int foundByThemselves(DiskTable table, float[][] rows) {
        List<CompletableFuture<SearchResult>> searches =
                Arrays.stream(rows).map(row -> table.search(row, 1)).toList();
        int found = 0;
        for (int row = 0; row < rows.length; row++) {
            long[] ids = searches.get(row).join().ids();
            found += ids.length == 1 && ids[0] == row ? 1 : 0;
        }
        return found;
    }

    private static void awaitFreshCodes(MutableDiskTable table) {
        Await.until(() -> !errors(table).areStale(table.size()));
    }

    private static CodeErrors errors(DiskTable table) {
        return table.graph().codes().errors();
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "10, 0", "500, 0", "1, 30", "500, 30"})
    void aTableThatHasGrownIsAsGoodAsOneThatWasBuiltOfAllItsRows(int built, float moved) throws Exception {
        float[][] rows = rows(built, moved);
        double whole;
        try (MutableDiskTable table = build(rows)) {
            whole = recall(table, rows, .3f, 60);
        }
        try (MutableDiskTable table = build(Arrays.copyOf(rows, built))) {
            putAll(table, rows, built, ROWS);
            awaitFreshCodes(table);
            assertThat(errors(table).trained()).isGreaterThan(built);
            assertThat(foundByThemselves(table, rows)).isGreaterThanOrEqualTo(ROWS * 99 / 100);
            assertThat(recall(table, rows, .3f, 60)).isGreaterThanOrEqualTo(whole - .02);
            table.verify();
        }
        try (MutableDiskTable table = open()) {
            assertThat(errors(table).trained()).as("the codes are in the file").isGreaterThan(built);
            assertThat(recall(table, rows, .3f, 60)).isGreaterThanOrEqualTo(whole - .02);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 520})
    void oneFarRowKeepsNoTableFromLearningItsCodes(int far) throws Exception {
        float[][] rows = rows(500, 30);
        rows[far][3] = 1e20f;
        try (MutableDiskTable table = build(Arrays.copyOf(rows, 500))) {
            putAll(table, rows, 500, ROWS);
            awaitFreshCodes(table);
            putAll(table, rows(0, -60), 0, ROWS);
            awaitFreshCodes(table);
            assertThat(foundByThemselves(table, rows(0, -60))).isGreaterThanOrEqualTo(ROWS * 99 / 100);
        }
    }

    @Test
    void searchesGoOnWhileCodesAreLearned() throws Exception {
        float[][] rows = rows(100, 5);
        try (MutableDiskTable table = build(Arrays.copyOf(rows, 100))) {
            AtomicBoolean isDone = new AtomicBoolean();
            CompletableFuture<Integer> searches = CompletableFuture.supplyAsync(() -> {
                int count = 0;
                while (!isDone.get()) {
                    // All rows of the build are there all the time.
                    int row = count++ % 100;
                    assertThat(table.search(rows[row], 1).join().ids()).containsExactly(row);
                }
                return count;
            });
            putAll(table, rows, 100, ROWS);
            isDone.set(true);
            assertThat(searches.join()).isPositive();
            assertThat(errors(table).trained()).isGreaterThan(100);
        }
    }

    @Test
    void rowsLikeThoseOfTheBuildDoNotChangeTheCodes() throws Exception {
        float[][] rows = rows(ROWS, 0);
        try (MutableDiskTable table = build(Arrays.copyOf(rows, 900))) {
            putAll(table, rows, 900, ROWS);
            assertThat(errors(table).trained()).isEqualTo(900);
            assertThat(errors(table).added()).isEqualTo(100);
        }
        try (MutableDiskTable table = open()) {
            assertThat(errors(table).added()).as("they are counted in the file").isEqualTo(100);
        }
    }

    @Test
    void aCopyOfATableWithLearnedCodesIsWhole(@TempDir Path folder) throws Exception {
        float[][] rows = rows(1, 0);
        Path copy = folder.resolve("copy");
        try (MutableDiskTable table = build(rows[0])) {
            putAll(table, rows, 1, 300);
            awaitFreshCodes(table);
            table.save(copy);
        }
        try (BlockIo disk = BlockIo.builder(orchestrator).build();
                DiskTable table = DiskTable.openReadOnly(orchestrator, disk, "copy", copy)) {
            assertThat(table.graph().root().centroidBlock()).isGreaterThan(DiskLayout.SUPERBLOCKS);
            assertThat(foundByThemselves(table, Arrays.copyOf(rows, 300))).isGreaterThan(296);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 9, 15, 22, 30, 38, 47, 60})
    void afterALossOfPowerTheTableHasTheOldCodesOrTheNewOnesAndAllRows(int at) throws Exception {
        float[][] rows = rows(20, 3);
        int acknowledged = 20;
        try (MutableDiskTable table = build(Arrays.copyOf(rows, 20))) {
            device().powerLossAt(at);
            for (int next = 20; next < 260; next += 24) {
                putAll(table, rows, next, next + 24);
                acknowledged = next + 24;
                if (next % 48 == 20) {
                    table.checkpoint().join();
                }
            }
        } catch (UncheckedIOException | CompletionException off) {
            assertThat(device().isOff()).isTrue();
        }
        try (MutableDiskTable table = openAfterPowerLoss(at)) {
            assertThat(table.size()).isGreaterThanOrEqualTo(acknowledged);
            float[][] there = Arrays.copyOf(rows, acknowledged);
            assertThat(foundByThemselves(table, there)).isGreaterThanOrEqualTo(acknowledged * 98 / 100);
            putAll(table, rows, 0, 400);
            assertThat(foundByThemselves(table, Arrays.copyOf(rows, 400))).isGreaterThanOrEqualTo(396);
            table.verify();
        } catch (IOException damaged) {
            throw new AssertionError("power loss at change " + at, damaged);
        }
    }

    @Test
    void codesAreStaleByTheErrorOfTheRowsThatWereAdded() {
        CodeErrors trained = new CodeErrors(10_000, 2, 0, 0);
        assertThat(trained.areStale(10_000)).isFalse();
        assertThat(new CodeErrors(10_000, 2, 10_000, 20_000).areStale(20_000))
                .as("no more than expected")
                .isFalse();
        assertThat(new CodeErrors(10_000, 2, 131, 1e9).areStale(10_131)).isFalse();
        assertThat(new CodeErrors(10_000, 2, 140, 1e9).areStale(10_140)).isTrue();
        assertThat(new CodeErrors(10_000, 2, 140, 1e9).areUseless(10_140)).isFalse();
        assertThat(new CodeErrors(10_000, 2, 2_000, 1e9).areUseless(12_000)).isTrue();
        assertThat(new CodeErrors(10_000, 2, 10_000, 40_000).areStale(20_000)).isTrue();
        assertThat(new CodeErrors(1, 0, 40, 1e-9).areStale(41)).isTrue();
        assertThat(new CodeErrors(105, 2, 918, 2_700).areStale(1_000))
                .as("learned from a tenth of the rows, which they fit better than the others")
                .isTrue();
        assertThat(new CodeErrors(600, 2, 400, 1_000).areStale(1_000)).isFalse();
        assertThat(new CodeErrors(5_000, 2, 9_000, 20_000).areStale(14_000)).isFalse();
        assertThat(new CodeErrors(1, 0, 40, 0).areStale(41)).as("all equal").isFalse();
        assertThat(new CodeErrors(0, 0, 100, 50).areStale(1_000)).as("unknown").isFalse();
        assertThat(new CodeErrors(0, 0, 600, 50).areStale(1_100)).isTrue();
    }
}
