package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.SearchResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class NewestOfEachTest {
    private static final SearchResult OLDER = new SearchResult(new long[] {1, 2}, new float[] {1, 2});
    private static final SearchResult NEWER = new SearchResult(new long[] {1}, new float[] {3});

    @Test
    void theRowInTheNewestListIsKept() {
        assertThat(NewestOfEach.merge(List.of(OLDER, NEWER), 2))
                .isEqualTo(new SearchResult(new long[] {2, 1}, new float[] {2, 3}));
    }

    @Test
    void aResultIsShortWhereRowsOfOneIdTookThePlacesOfOthersThatThereMayBe() {
        List<SearchResult> found = List.of(OLDER, NEWER);
        SearchResult merged = NewestOfEach.merge(found, 2);
        assertThat(NewestOfEach.isShort(merged, found, 2, 2, 4)).isTrue();
        assertThat(NewestOfEach.isShort(merged, found, 2, 2, 2)).isFalse();
        assertThat(NewestOfEach.isShort(merged, found, 2, 3, 4)).isFalse();
        assertThat(NewestOfEach.isShort(NewestOfEach.merge(List.of(OLDER), 2), List.of(OLDER), 2, 2, 4))
                .isFalse();
        List<SearchResult> twiceInOne = List.of(new SearchResult(new long[] {1, 1}, new float[] {1, 2}));
        assertThat(NewestOfEach.isShort(NewestOfEach.merge(twiceInOne, 2), twiceInOne, 2, 2, 4))
                .isTrue();
    }

    /** The third of the older part is nearer than what comes third of the newer one. */
    @Test
    void aFullResultIsShortToo() {
        List<SearchResult> found = List.of(OLDER, new SearchResult(new long[] {5, 1}, new float[] {10, 30}));
        SearchResult merged = NewestOfEach.merge(found, 2);
        assertThat(merged).isEqualTo(new SearchResult(new long[] {2, 5}, new float[] {2, 10}));
        assertThat(NewestOfEach.isShort(merged, found, 2, 2, 4)).isTrue();
    }
}
