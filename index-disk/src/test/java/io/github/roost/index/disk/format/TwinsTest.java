package io.github.roost.index.disk.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

class TwinsTest {
    /** The nodes that a walk visits, up to a limit that a walk without end would reach. */
    private static List<Integer> walked(int[] ring, int from, IntPredicate visitor) {
        List<Integer> visited = new ArrayList<>();
        Twins.walk(from, node -> ring[node], node -> {
            visited.add(node);
            return visitor.test(node) && visited.size() < 1_000;
        });
        return visited;
    }

    @Test
    void aWalkVisitsTheOthersOnceAsLongAsMoreAreWanted() {
        for (int size = 1; size < 40; size++) {
            int[] ring = new int[size];
            for (int i = 0; i < size; i++) {
                ring[i] = (i + 1) % size;
            }
            assertThat(walked(ring, 0, node -> true)).hasSize(size - 1).doesNotHaveDuplicates();
            int last = size / 2;
            assertThat(walked(ring, 0, node -> node < last)).hasSize(Math.max(Math.min(1, size - 1), last));
        }
    }

    @Test
    void aWalkEndsThoughItsNodeLeavesTheRing() {
        int[] ring = {1, 0};
        assertThat(walked(ring, 0, node -> {
                    ring[1] = 1;
                    return true;
                }))
                .hasSize(1);
    }

    @Test
    void aWalkEndsInWhateverRingItComesTo() {
        Random random = new Random(7);
        for (int round = 0; round < 1_000; round++) {
            int[] ring = new int[2 + random.nextInt(20)];
            for (int i = 0; i < ring.length; i++) {
                ring[i] = (i + 1) % ring.length;
            }
            int at = 1 + random.nextInt(ring.length - 1);
            int back = 1 + random.nextInt(ring.length - 1);
            List<Integer> visited = walked(ring, 0, node -> {
                ring[at] = back;
                return true;
            });
            assertThat(visited).hasSizeLessThan(4 * ring.length);
        }
    }
}
