package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowNodesTest {
    @Test
    void holdsWhatAMapHoldsThroughInsertsAndRemovals() {
        try (RowNodes nodes = new RowNodes()) {
            change(nodes);
        }
    }

    private static void change(RowNodes nodes) {
        Map<Long, Integer> expected = new HashMap<>();
        Random random = new Random(1);
        for (int i = 0; i < 200_000; i++) {
            // Few ids that lie close, so that runs of slots grow, wrap around and are torn apart.
            long id = random.nextInt(700) * (1L << 32);
            if (random.nextInt(3) == 0) {
                Integer before = expected.remove(id);
                assertThat(nodes.remove(id)).isEqualTo(before == null ? RowNodes.NONE : before);
            } else {
                Integer before = expected.put(id, i);
                assertThat(nodes.put(id, i)).isEqualTo(before == null ? RowNodes.NONE : before);
            }
            assertThat(nodes.size()).isEqualTo(expected.size());
            long other = random.nextInt(700) * (1L << 32);
            assertThat(nodes.node(other)).isEqualTo(expected.getOrDefault(other, RowNodes.NONE));
        }
    }
}
