package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Await;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that equal each other are all found, and hide no others. */
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EqualRowsTest extends OnDevice {
    private static final float[][] OTHERS = gaussian(2_000, 16, 3);

    /** Rows of which each is one of some values. */
    private static float[][] ofValues(int count, int values) {
        return IntStream.range(0, count).mapToObj(i -> OTHERS[i % values]).toArray(float[][]::new);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 50, 400, 900})
    void aTableOfFiveValuesGivesAllRowsOfOne(int k) throws Exception {
        try (MutableDiskTable table = build(ofValues(2_000, 5))) {
            for (int value = 0; value < 5; value++) {
                assertThat(equal(table, OTHERS[value], k)).isEqualTo(Math.min(k, 400));
            }
        }
    }

    /** The first rows are inserted at once by several threads. */
    @Test
    void eachValueIsFoundInEveryOneOfManyBuilds() throws Exception {
        float[][] rows = ofValues(2_000, 5);
        for (int i = 0; i < 100; i++) {
            try (MutableDiskTable table = build(rows)) {
                for (int value = 0; value < 5; value++) {
                    assertThat(equal(table, OTHERS[value], K)).isEqualTo(K);
                }
            }
        }
    }

    @Test
    void aTableOfOneValueGivesAllItsRows() throws Exception {
        try (MutableDiskTable table = build(ofValues(700, 1))) {
            assertThat(equal(table, OTHERS[0], 700)).isEqualTo(700);
            assertThat(equal(table, OTHERS[1], 700)).isZero();
        }
    }

    @Test
    void equalRowsAmongDifferentOnesAreAllFoundAndSoAreTheOthers() throws Exception {
        float[][] rows = OTHERS.clone();
        for (int i = 0; i < 100; i++) {
            rows[i * 20] = OTHERS[0];
        }
        try (MutableDiskTable table = build(rows)) {
            assertThat(equal(table, OTHERS[0], 100)).isEqualTo(100);
            assertThat(recall(table, Arrays.copyOfRange(rows, 0, 2_000), .3f, 50))
                    .isGreaterThan(.97);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFewRowsBesideManyEqualOnesAreFound(boolean areFirst) throws Exception {
        float[][] rows = ofValues(1_500, 1);
        for (int i = 0; i < 20; i++) {
            rows[areFirst ? i : 1_499 - i] = OTHERS[100 + i];
        }
        try (MutableDiskTable table = build(rows)) {
            for (int i = 0; i < 20; i++) {
                assertThat(table.search(OTHERS[100 + i], 1).join().ids()).containsExactly(areFirst ? i : 1_499 - i);
            }
            assertThat(equal(table, OTHERS[0], 1_480)).isEqualTo(1_480);
        }
    }

    @Test
    void equalRowsPutLaterAreFoundThroughRepairsCheckpointsAndReopening() throws Exception {
        float[][] rows = new float[1_200][];
        Arrays.setAll(rows, i -> i % 2 == 0 ? OTHERS[i] : OTHERS[1]);
        try (MutableDiskTable table = build(Arrays.copyOf(rows, 400))) {
            putAll(table, rows, 400, 1_200);
            assertThat(equal(table, OTHERS[1], 600)).isEqualTo(600);
            // Those that others hang on go first.
            removeAll(table, 0, 500);
            assertThat(equal(table, OTHERS[1], 350)).isEqualTo(350);
            table.checkpoint().join();
            putAll(table, rows, 300, 500);
            removeAll(table, 600, 900);
        }
        try (MutableDiskTable table = open()) {
            assertThat(equal(table, OTHERS[1], 300)).isEqualTo(300);
            for (int row = 900; row < 1_200; row += 2) {
                assertThat(table.search(rows[row], 1).join().ids()).containsExactly(row);
            }
            removeAll(table, 900, 1_150);
            assertThat(equal(table, OTHERS[1], 175)).isEqualTo(175);
        }
    }

    /** While a repair runs, there may be no edge to a row; at its end there is one. */
    private static void awaitFound(DiskTable table, float[] vector, int row) {
        Await.until(() -> table.search(vector, 1).join().ids()[0] == row);
    }

    private static void awaitEqual(DiskTable table, float[] vector, int count) {
        Await.until(() -> equal(table, vector, Math.max(1, count)) == count);
    }

    @Test
    void equalRowsAreFoundAfterRandomUpdatesAndLossesOfPower() throws Exception {
        Random random = new Random(5);
        float[][] rows = new float[400][];
        Arrays.setAll(rows, i -> i % 3 == 0 ? OTHERS[i] : OTHERS[i % 4 == 0 ? 0 : 1]);
        boolean[] isThere = new boolean[rows.length];
        Arrays.fill(isThere, 0, 100, true);
        MutableDiskTable table = build(Arrays.copyOf(rows, 100));
        for (int round = 0; round < 8; round++) {
            List<CompletableFuture<Boolean>> updates = new ArrayList<>();
            for (int i = 0; i < 120; i++) {
                int row = random.nextInt(rows.length);
                isThere[row] = random.nextInt(5) > 1;
                updates.add(isThere[row] ? table.putLater(row, rows[row]) : table.removeLater(row));
            }
            updates.forEach(CompletableFuture::join);
            if (round % 3 == 2) {
                table.close();
                table = openAfterPowerLoss(round);
            }
            for (int value = 0; value < 2; value++) {
                float[] vector = OTHERS[value];
                long all = IntStream.range(0, rows.length)
                        .filter(row -> isThere[row] && Arrays.equals(rows[row], vector))
                        .count();
                awaitEqual(table, vector, (int) all);
            }
            for (int row = 3; row < rows.length; row += 3) {
                if (isThere[row]) {
                    awaitFound(table, rows[row], row);
                }
            }
        }
        table.close();
    }

    @Test
    void nearlyEqualRowsAreAllFound() throws Exception {
        Random random = new Random(1);
        float[][] rows = OTHERS.clone();
        for (int i = 0; i < 60; i++) {
            rows[i] = near(OTHERS[0], 1e-6f, random);
        }
        try (MutableDiskTable table = build(rows)) {
            long[] found = table.search(OTHERS[0], 60).join().ids();
            assertThat(Arrays.stream(found).filter(id -> id < 60)).hasSize(60);
            assertThat(table.search(OTHERS[100], 1).join().ids()).containsExactly(100);
        }
    }
}
