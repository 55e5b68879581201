package io.github.roost.index.disk.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Vectors;
import org.junit.jupiter.api.Test;

class DeltaPruneTest {
    private static final float[] OWNER = {0, 0};

    /** The index of the neighbor that goes, or their number for the new node. */
    private static int givenUp(float[] added, float[]... neighbors) {
        float[] fromOwner = new float[neighbors.length + 1];
        float[] fromNew = new float[neighbors.length];
        for (int i = 0; i < neighbors.length; i++) {
            fromOwner[i] = Vectors.squaredDistance(OWNER, neighbors[i]);
            fromNew[i] = Vectors.squaredDistance(added, neighbors[i]);
        }
        fromOwner[neighbors.length] = Vectors.squaredDistance(OWNER, added);
        return DeltaPrune.givenUp(fromOwner, fromNew, 1.2f);
    }

    @Test
    void theFarthestThatTheNewNodeOccludesGoes() {
        assertThat(givenUp(new float[] {1, 0}, new float[] {3, 0}, new float[] {4, 0}, new float[] {-9, 0}))
                .as("the third is farther, on the other side")
                .isEqualTo(1);
    }

    @Test
    void theNewNodeGoesWhereANearerNeighborOccludesIt() {
        assertThat(givenUp(new float[] {3, 0}, new float[] {2, 0}, new float[] {0, 5}, new float[] {-1, 0}))
                .isEqualTo(3);
    }

    @Test
    void theFartherOfTwoThatAreOccludedGoes() {
        assertThat(givenUp(new float[] {3, 0}, new float[] {2, 0}, new float[] {5, 0}))
                .as("the new node is behind the first, the second behind the new node")
                .isEqualTo(1);
    }

    @Test
    void theFarthestGoesWhereNoneIsOccluded() {
        assertThat(givenUp(new float[] {1, 0}, new float[] {-1, 0}, new float[] {0, 2}, new float[] {0, -1}))
                .isEqualTo(1);
        assertThat(givenUp(new float[] {3, 0}, new float[] {-1, 0}, new float[] {0, 2}, new float[] {0, -1}))
                .as("the new node is the farthest")
                .isEqualTo(3);
    }

    @Test
    void aNeighborThatIsWhereTheNewNodeIsCountsAsOccluded() {
        assertThat(givenUp(new float[] {1, 0}, new float[] {1, 0}, new float[] {-4, 0}))
                .isEqualTo(0);
    }
}
