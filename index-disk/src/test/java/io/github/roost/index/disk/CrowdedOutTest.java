package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Near rows that may not be found take no place from those that may. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CrowdedOutTest extends OnDevice {
    private static final int WIDE = 3_000;
    private static final int TIGHT = 250;
    private static final float[][] ROWS = rows();

    private static float[][] rows() {
        float[][] rows = gaussian(WIDE + TIGHT, 16, 1);
        for (int row = 0; row < rows.length; row++) {
            for (int i = 0; i < 16; i++) {
                rows[row][i] *= row < WIDE ? 10 : .1f;
            }
        }
        return rows;
    }

    private static double recall(DiskTable table, int width, IdFilter filter, IntPredicate allowed) {
        Random random = new Random(3);
        double sum = 0;
        for (int i = 0; i < 10; i++) {
            float[] query = near(new float[16], .1f, random);
            SearchResult found = table.search(
                            SearchRequest.of(query, K).effort(width).filter(filter))
                    .join();
            assertThat(found.ids()).hasSize(K);
            assertThat(found.cutShort()).isFalse();
            sum += Rows.recall(found.ids(), nearest(ROWS, query, K, allowed));
        }
        return sum / 10;
    }

    @ParameterizedTest
    @ValueSource(ints = {50, 100, 400})
    void aSearchAmongDeletedRowsFindsTheNearestOfTheOthers(int width) throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            removeAll(table, WIDE, WIDE + TIGHT);
            assertThat(table.diskStats().deletedNodes()).isEqualTo(TIGHT);
            assertThat(recall(table, width, IdFilter.all(), row -> row < WIDE)).isGreaterThan(.9);
        }
    }

    @Test
    void aSearchAmongRowsThatAFilterRefusesFindsTheNearestOfTheOthers() throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            assertThat(recall(table, 100, IdFilter.of(id -> id < WIDE), row -> row < WIDE))
                    .isGreaterThan(.9);
            // Only rows far from the query, on one side.
            IntPredicate isFar = row -> ROWS[row][0] > 8;
            assertThat(recall(table, 100, IdFilter.of(id -> isFar.test((int) id)), isFar))
                    .isGreaterThan(.9);
        }
    }

    @Test
    void aRowPutAmongDeletedRowsIsFound() throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            removeAll(table, WIDE, WIDE + TIGHT);
            float[] middle = new float[16];
            table.put(9_999, middle);
            assertThat(table.search(middle, 1).join().ids()).containsExactly(9_999);
        }
    }

    @Test
    void theLastRowsOfAnEmptiedTableAreFoundWhateverIsAskedFor() throws Exception {
        float[][] rows = gaussian(300, 8, 2);
        try (MutableDiskTable table = build(rows)) {
            removeAll(table, 0, 299);
            for (int k : new int[] {1, 10, 5_000}) {
                assertThat(table.search(rows[0], k).join().ids()).containsExactly(299);
            }
            table.remove(299);
            assertThat(table.search(rows[0], K).join().ids()).isEmpty();
            table.put(7, rows[7]);
            assertThat(table.search(rows[0], K).join().ids()).containsExactly(7);
        }
    }

    @Test
    void aSearchThatMayNotCompareEnoughSaysSo() throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            removeAll(table, WIDE, WIDE + TIGHT);
            SearchResult found = table.search(
                            SearchRequest.of(new float[16], 1_000).visitLimit(900))
                    .join();
            assertThat(found.ids().length).isLessThan(1_000);
            assertThat(found.cutShort()).isTrue();
        }
    }

    /** Small tables after random updates, with filters of any kind: as many rows as there are, and nearly the right ones. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void aSearchReturnsAsManyRowsAsThereAre(int seed) throws Exception {
        Random random = new Random(seed);
        int count = new int[] {1, 2, 17, 60, 300, 500}[seed - 1];
        float[][] rows = gaussian(count, 1 + random.nextInt(12), seed);
        boolean[] isThere = new boolean[count];
        Arrays.fill(isThere, true);
        long hits = 0;
        int expected = 0;
        try (MutableDiskTable table = build(rows)) {
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < count / 3; i++) {
                    int row = random.nextInt(count);
                    isThere[row] = random.nextInt(3) == 0;
                    var _ = isThere[row] ? table.put(row, rows[row]) : table.remove(row);
                }
                float[] query = near(rows[random.nextInt(count)], .2f, random);
                int oneIn = 1 + random.nextInt(4);
                double radius = distance(rows[random.nextInt(count)], query);
                boolean isFar = random.nextBoolean();
                IntPredicate allowed =
                        row -> isThere[row] && row % oneIn == 0 && isFar == distance(rows[row], query) >= radius;
                int k = 1 + random.nextInt(2 * count);
                long[] found = table.search(
                                SearchRequest.of(query, k).filter(IdFilter.of(id -> allowed.test((int) id))))
                        .join()
                        .ids();
                long[] right = nearest(rows, query, k, allowed);
                assertThat(found).hasSize(right.length).doesNotHaveDuplicates();
                hits += IntStream.range(0, found.length)
                        .filter(i -> Arrays.stream(right).anyMatch(id -> id == found[i]))
                        .count();
                expected += right.length;
                assertThat(table.search(query, 2 * count).join().ids()).hasSize((int)
                        IntStream.range(0, count).filter(row -> isThere[row]).count());
            }
        }
        assertThat(hits).isGreaterThanOrEqualTo((long) (.97 * expected));
    }
}
