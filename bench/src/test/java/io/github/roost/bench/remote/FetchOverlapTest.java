package io.github.roost.bench.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FetchOverlapTest {
    /** A byte a nanosecond. */
    private static final NetworkModel LINK = new NetworkModel(100, 10, 1, 1e9);

    private static long[] of(int count, long each) {
        long[] all = new long[count];
        Arrays.fill(all, each);
        return all;
    }

    @Test
    void longSearchesHideAllButTheFirstFetch() {
        FetchOverlap overlap = FetchOverlap.of(LINK, 1, of(10, 989), of(10, 5_000), 1);
        assertThat(overlap.fetchNanos()).isEqualTo(10 * 1_000 + 100);
        assertThat(overlap.searchNanos()).isEqualTo(50_000);
        assertThat(overlap.bothNanos()).isEqualTo(50_000 + 1_100);
        assertThat(overlap.hidden()).isBetween(.89, .9);
    }

    @Test
    void shortSearchesHideNothingButThemselves() {
        FetchOverlap overlap = FetchOverlap.of(LINK, 1, of(10, 989), of(10, 100), 2);
        assertThat(overlap.bothNanos()).isEqualTo(10_100 + 100);
        assertThat(overlap.searchNanos()).isEqualTo(500);
        assertThat(overlap.hidden()).isBetween(.03, .05);
    }

    @Test
    void piecesOfOneDoorbellPayForOneBell() {
        FetchOverlap overlap = FetchOverlap.of(LINK, 5, of(10, 989), of(10, 0), 1);
        assertThat(overlap.fetchNanos()).isEqualTo(2 * 10 + 10 * 990 + 100);
        assertThat(overlap.bothNanos()).isEqualTo(overlap.fetchNanos());
        assertThat(overlap.hidden()).isZero();
    }

    @Test
    void aDoorbellTakesItsRoundTripItsPiecesAndItsBytes() {
        assertThat(NetworkModel.GIGABIT_100.alone(2, 125_000)).isEqualTo(2_000 + 400 + 200 + 10_000);
    }
}
