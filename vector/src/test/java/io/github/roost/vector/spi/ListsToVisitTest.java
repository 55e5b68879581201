package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;

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

    @Test
    void furtherListsShouldHaveTheRowsThatAreMissing() {
        assertThat(ListsToVisit.next(8, 0, 1)).isEqualTo(16);
        assertThat(ListsToVisit.next(8, 9, 10)).isEqualTo(16);
        assertThat(ListsToVisit.next(8, 4, 10)).isEqualTo(24);
        assertThat(ListsToVisit.next(8, 0, 10)).isEqualTo(32);
        assertThat(ListsToVisit.next(1 << 30, 0, 10)).isEqualTo(Integer.MAX_VALUE);
    }
}
