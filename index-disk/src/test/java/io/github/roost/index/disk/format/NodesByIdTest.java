package io.github.roost.index.disk.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NodesByIdTest {
    private static final int NODES = 20_000;

    private final ProductCodes codes = new ProductCodes(new DiskLayout(4, 4, 1));

    @Test
    void itFindsWhatAMapFindsWhileItGrows() {
        Random random = new Random(3);
        codes.grow(2);
        codes.put(1, -5, new byte[1], ProductCodes.LIVE);
        NodesById nodes = NodesById.of(codes);
        assertThat(nodes.get(codes, -5)).isEqualTo(1);
        Map<Long, Integer> expected = new HashMap<>(Map.of(-5L, 1));
        codes.grow(NODES);
        for (int node = 2; node < NODES; node++) {
            // Some ids come again, and some are far apart.
            long id = random.nextInt(NODES) * (node % 2 == 0 ? 1 : 1L << 40);
            codes.put(node, id, new byte[1], ProductCodes.LIVE);
            Integer before = expected.put(id, node);
            assertThat(nodes.put(codes, node)).isEqualTo(before == null ? -1 : before);
            if (node % 3 == 0) {
                long gone = random.nextInt(NODES);
                Integer removed = expected.remove(gone);
                assertThat(nodes.remove(codes, gone)).isEqualTo(removed == null ? -1 : removed);
            }
        }
        for (long id = -10; id < NODES; id++) {
            assertThat(nodes.get(codes, id)).isEqualTo(expected.getOrDefault(id, -1));
            assertThat(nodes.get(codes, id << 40)).isEqualTo(expected.getOrDefault(id << 40, -1));
        }
        codes.close();
    }
}
