package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.roost.neighborhash.spi.RowMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RowMapTest {
    private record Place(int group, int row) {
        static Place of(long place) {
            return new Place(RowMap.group(place), RowMap.row(place));
        }
    }

    @Test
    void holdsWhatAMapHoldsThroughInsertsAndRemovals() {
        try (RowMap map = new RowMap(0)) {
            change(map);
        }
    }

    private static void change(RowMap map) {
        Map<Long, Place> expected = new HashMap<>();
        Random random = new Random(1);
        for (int i = 0; i < 200_000; i++) {
            // Few ids that lie close, so that runs of slots grow, wrap around and are torn apart.
            long id = random.nextInt(700) * (1L << 32);
            if (random.nextInt(3) == 0) {
                assertSame(map.remove(id), expected.remove(id));
            } else {
                Place place = new Place(random.nextInt(RowMap.GROUPS), random.nextInt() & Integer.MAX_VALUE);
                assertSame(map.put(id, place.group(), place.row()), expected.put(id, place));
            }
            assertThat(map.size()).isEqualTo(expected.size());
            long other = random.nextInt(700) * (1L << 32);
            assertSame(map.get(other), expected.get(other));
        }
        Map<Long, Place> visited = new HashMap<>();
        map.forEach((id, group, row) -> visited.put(id, new Place(group, row)));
        assertThat(visited).isEqualTo(expected);
    }

    private static void assertSame(long place, @Nullable Place expected) {
        if (expected == null) {
            assertThat(place).isEqualTo(RowMap.NOWHERE);
            assertThat(RowMap.row(place)).isNegative();
        } else {
            assertThat(Place.of(place)).isEqualTo(expected);
        }
    }

    @Test
    void theLargestGroupAndRowFit() {
        try (RowMap map = new RowMap(1)) {
            map.put(Long.MIN_VALUE, RowMap.GROUPS - 1, Integer.MAX_VALUE);
            assertThat(Place.of(map.get(Long.MIN_VALUE))).isEqualTo(new Place(RowMap.GROUPS - 1, Integer.MAX_VALUE));
        }
    }

    @Test
    void aClosedMapRefusesCalls() {
        RowMap map = new RowMap(0);
        map.close();
        assertThatIllegalStateException().isThrownBy(() -> map.get(1));
        assertThatIllegalStateException().isThrownBy(() -> map.put(1, 0, 1));
    }
}
