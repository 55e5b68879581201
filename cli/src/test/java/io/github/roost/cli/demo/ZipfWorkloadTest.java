package io.github.roost.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ZipfWorkloadTest {
    private static final int TABLES = 10;
    private static final int DRAWS = 1 << 16;

    private final List<int[]> queries = IntStream.range(0, TABLES)
            .mapToObj(table -> new int[] {2 * table, 2 * table + 1})
            .toList();

    @Test
    void popularityFallsAsOneOverTheRank() {
        ZipfWorkload workload = new ZipfWorkload(queries);
        long[] counts = new long[TABLES];
        for (int i = 0; i < DRAWS; i++) {
            counts[workload.table(i)]++;
        }
        Arrays.sort(counts);
        double harmonic =
                IntStream.rangeClosed(1, TABLES).mapToDouble(rank -> 1.0 / rank).sum();

        for (int rank = 1; rank <= TABLES; rank++) {
            double expected = DRAWS / (rank * harmonic);
            assertThat((double) counts[TABLES - rank]).isBetween(.95 * expected - 1, 1.05 * expected + 1);
        }
    }

    @Test
    void aTableIsAskedItsOwnQueriesAndTheStreamIsTheSameEveryTime() {
        ZipfWorkload workload = new ZipfWorkload(queries);
        ZipfWorkload again = new ZipfWorkload(queries);

        for (int i = 0; i < 1_000; i++) {
            assertThat(queries.get(workload.table(i))).contains(workload.query(i));
            assertThat(again.table(i)).isEqualTo(workload.table(i));
            assertThat(again.query(i)).isEqualTo(workload.query(i));
        }
    }
}
