package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.SearchResult;
import org.junit.jupiter.api.Test;

class RecallTest {
    private static SearchResult found(long... ids) {
        return new SearchResult(ids, new float[ids.length]);
    }

    private static SearchResult at(float... distances) {
        long[] ids = new long[distances.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = i;
        }
        return new SearchResult(ids, distances);
    }

    @Test
    void byIdCountsWhatIsAmongTheFirstKOfBothInAnyOrder() {
        int[][] truth = {{1, 2, 3}, {4, 5, 6}};

        assertThat(Recall.byId(truth, new SearchResult[] {found(2, 1, 9), found(6, 4, 5)}, 3))
                .isEqualTo(5 / 6.0);
        assertThat(Recall.byId(truth, new SearchResult[] {found(3, 1, 2), found(4, 6, 5)}, 2))
                .isEqualTo(2 / 4.0);
    }

    @Test
    void aShortOrRepeatedResultGainsNothing() {
        assertThat(Recall.byId(new int[][] {{1, 2}}, new SearchResult[] {found(1)}, 2))
                .isEqualTo(.5);
        assertThat(Recall.byId(new int[][] {{1, 2}}, new SearchResult[] {found(1, 1)}, 2))
                .isEqualTo(.5);
    }

    @Test
    void byDistanceAVectorAtTheKthDistanceIsAsGoodAsAnother() {
        DistanceRecall recall = new DistanceRecall();

        recall.add(at(1, 4), at(1, 4));
        assertThat(recall.share()).isEqualTo(1);

        recall.add(at(1, 4), at(4, 5));
        assertThat(recall.share()).isEqualTo(3 / 4.0);

        recall.add(at(1, 4), at(1));
        assertThat(recall.share()).isEqualTo(4 / 6.0);
    }

    @Test
    void truthAndResultsOfDifferentQueriesAreRefused() {
        assertThatThrownBy(() -> Recall.byId(new int[][] {{1}}, new SearchResult[0], 1))
                .hasMessageContaining("got 1 and 0");
    }
}
