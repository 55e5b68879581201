package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Neighbors;
import java.util.List;
import org.junit.jupiter.api.Test;

class NewestOfEachTest {
    private static final Neighbors OLDER = new Neighbors(new long[] {1, 2}, new float[] {1, 2});
    private static final Neighbors NEWER = new Neighbors(new long[] {1}, new float[] {3});

    @Test
    void theRowInTheNewestListIsKept() {
        assertThat(NewestOfEach.merge(List.of(OLDER, NEWER), 2))
                .isEqualTo(new Neighbors(new long[] {2, 1}, new float[] {2, 3}));
    }

    @Test
    void aResultIsShortWhereRowsOfOneIdTookThePlacesOfOthersThatThereMayBe() {
        List<Neighbors> found = List.of(OLDER, NEWER);
        Neighbors merged = NewestOfEach.merge(found, 3);
        assertThat(merged.size()).isEqualTo(2);
        assertThat(NewestOfEach.isShort(merged, found, 3, 3, 4)).isTrue();
        assertThat(NewestOfEach.isShort(merged, found, 3, 4, 4)).isFalse();
        assertThat(NewestOfEach.isShort(merged, found, 2, 2, 4)).isFalse();
        assertThat(NewestOfEach.isShort(merged, List.of(OLDER), 3, 3, 4)).isFalse();
    }
}
