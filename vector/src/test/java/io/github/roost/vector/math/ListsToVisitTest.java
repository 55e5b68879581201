package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Metric;
import org.junit.jupiter.api.Test;

class ListsToVisitTest {
    @Test
    void upToTenRowsTheMeasuredNumberHolds() {
        for (int k = 1; k <= 10; k++) {
            assertThat(ListsToVisit.forRows(7, k, 1_000, 126)).isEqualTo(7);
        }
        assertThat(ListsToVisit.forRows(7, 10, 3, 3)).isEqualTo(3);
    }

    @Test
    void forMoreRowsItGrowsAndTheListsHaveEnough() {
        for (int rows : new int[] {0, 1, 1_000, 1_000_000}) {
            for (int measured : new int[] {1, 8, 64}) {
                int before = Math.min(measured, 126);
                for (int k : new int[] {11, 50, 100, 1_000, 10_000}) {
                    int lists = ListsToVisit.forRows(measured, k, rows, 126);
                    assertThat(lists).isBetween(before, 126);
                    assertThat(lists == 126 || (long) lists * rows / 126 >= k).isTrue();
                    before = lists;
                }
            }
        }
    }

    /** On a line, centroids at 0 and 10: rows of the second lie beyond 5. */
    @Test
    void aListWhoseRowsAreBeyondTheRadiusIsLeftOut() {
        for (float query : new float[] {-3, 0, 2, 4.9f}) {
            double distance = (10 - query) * (10 - query);
            double least = query * query;
            double plane = (5 - query) * (5 - query);
            assertThat(ListsToVisit.isBeyond(distance, least, 100, .9 * plane - .001))
                    .isTrue();
            assertThat(ListsToVisit.isBeyond(distance, least, 100, 1.001 * plane))
                    .isFalse();
        }
        assertThat(ListsToVisit.isBeyond(Double.POSITIVE_INFINITY, 1, 1, 1)).isFalse();
        assertThat(ListsToVisit.isBeyond(Double.NaN, 1, 1, 1)).isFalse();
        assertThat(ListsToVisit.squared(Metric.SQUARED_L2, 3)).isEqualTo(3);
        assertThat(ListsToVisit.squared(Metric.COSINE, 3)).isBetween(6., 6.001);
    }

    @Test
    void furtherListsShouldHaveTheRowsThatAreMissing() {
        assertThat(ListsToVisit.next(8, 0, 1)).isEqualTo(16);
        assertThat(ListsToVisit.next(8, 9, 10)).isEqualTo(16);
        assertThat(ListsToVisit.next(8, 4, 10)).isEqualTo(24);
        assertThat(ListsToVisit.next(8, 0, 10)).isEqualTo(32);
        assertThat(ListsToVisit.next(1 << 30, 0, 10)).isEqualTo(Integer.MAX_VALUE);
    }
}
