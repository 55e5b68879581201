package io.github.roost.index.hnsw.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Metric;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What scratches in the pool keep; other tests use the same pool. */
class SearchScratchTest {
    private static final long LARGE = 12L * 1_000_000;

    private final GraphImage large = image(1_000_000);
    private final GraphImage small = image(100);

    private static GraphImage image(int nodes) {
        return GraphImage.allocate(new GraphImage.Shape(
                Metric.SQUARED_L2, GraphImage.Content.CODES, 1, 2, 1, nodes, nodes, 0, 0, new int[0]));
    }

    private static void search(GraphImage image) {
        SearchScratch scratch = SearchScratch.take();
        scratch.begin(image, 10);
        scratch.giveBack();
    }

    @Test
    void theListsOfLargeGraphsAreFreedAfterSearchesOfSmallOnes() {
        search(small);
        long before = SearchScratch.pooledBytes();
        List<SearchScratch> taken = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            taken.add(SearchScratch.take().begin(large, 10));
        }
        taken.forEach(SearchScratch::giveBack);
        assertThat(SearchScratch.pooledBytes()).isGreaterThan(before + LARGE);
        for (int i = 0; i < 5 * SearchScratch.USES; i++) {
            search(small);
        }
        assertThat(SearchScratch.pooledBytes()).isLessThan(LARGE);
    }

    @Test
    void whatIsNeededIsKept() {
        for (int i = 0; i < 5 * SearchScratch.USES; i++) {
            search(large);
        }
        assertThat(SearchScratch.pooledBytes()).isGreaterThan(LARGE);
    }

    @Test
    void aScratchWhoseListsWereFreedSearchesAgain() {
        for (int i = 0; i < 2 * SearchScratch.USES; i++) {
            search(i < SearchScratch.USES ? large : small);
        }
        SearchScratch scratch = SearchScratch.take().begin(large, 10);
        for (int node = 0; node < 1_000_000; node += 99_999) {
            assertThat(scratch.isVisited(node)).isFalse();
            scratch.visit(node);
        }
        scratch.abandon();
        scratch.giveBack();
    }
}
