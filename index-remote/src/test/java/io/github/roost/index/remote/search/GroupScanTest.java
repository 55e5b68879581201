package io.github.roost.index.remote.search;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GroupScanTest {
    @Test
    void aScanIsLessWorkTheMoreQueriesWait() {
        GroupScan.Shape shape = new GroupScan.Shape(20_000, 128, 64);
        boolean before = false;
        for (int queries = 1; queries <= GroupScan.MAX_QUERIES; queries++) {
            boolean scans = GroupScan.isLessWork(queries, shape);
            assertThat(scans || !before).describedAs("%d queries", queries).isTrue();
            before = scans;
        }
    }

    @Test
    void aPartitionOfThousandsOfRowsIsScannedForTensOfQueries() {
        assertThat(GroupScan.isLessWork(50, new GroupScan.Shape(6_250, 128, 64)))
                .isTrue();
        assertThat(GroupScan.isLessWork(50, new GroupScan.Shape(625, 128, 64))).isTrue();
    }

    @Test
    void theGraphOfManyRowsIsSearchedHoweverManyQueriesWait() {
        assertThat(GroupScan.isLessWork(GroupScan.MAX_QUERIES, new GroupScan.Shape(1_000_000, 128, 64)))
                .isFalse();
    }

    @Test
    void aWiderGraphSearchIsMoreWorkAndAScanIsNot() {
        GroupScan.Shape narrow = new GroupScan.Shape(50_000, 128, 16);
        GroupScan.Shape wide = new GroupScan.Shape(50_000, 128, 1_000);
        assertThat(GroupScan.graphSearchNanos(wide)).isGreaterThan(GroupScan.graphSearchNanos(narrow));
        assertThat(GroupScan.nanos(8, wide)).isEqualTo(GroupScan.nanos(8, narrow));
    }

    @Test
    void aSliceHasOneQueryAtLeast() {
        assertThat(GroupScan.queriesIn(1, new GroupScan.Shape(1_000_000, 4_096, 64)))
                .isEqualTo(1);
        assertThat(GroupScan.queriesIn(Long.MAX_VALUE, new GroupScan.Shape(1, 1, 1)))
                .isEqualTo(GroupScan.MAX_QUERIES);
    }
}
