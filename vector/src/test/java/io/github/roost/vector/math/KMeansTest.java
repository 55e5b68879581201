package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Machines;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KMeansTest {
    private static float[][] trained(int workers, float[][] rows, int centroids) {
        try (Orchestrator orchestrator = Machines.orchestrator(1, workers).build()) {
            return new KMeans(new BuildWork(orchestrator, "training"), row -> rows[row])
                    .train(centroids, moved -> nearest(rows, moved));
        }
    }

    private static int[] nearest(float[][] rows, float[][] centroids) {
        return Arrays.stream(rows).mapToInt(row -> nearest(row, centroids)).toArray();
    }

    private static int nearest(float[] row, float[][] centroids) {
        int nearest = 0;
        for (int i = 1; i < centroids.length; i++) {
            if (Vectors.squaredDistance(row, centroids[i]) < Vectors.squaredDistance(row, centroids[nearest])) {
                nearest = i;
            }
        }
        return nearest;
    }

    private static float[][] vectors(int rows, int dimension, int values, Random random) {
        float[][] vectors = new float[rows][dimension];
        for (float[] vector : vectors) {
            for (int d = 0; d < dimension; d++) {
                vector[d] = random.nextInt(values);
            }
        }
        return vectors;
    }

    @Test
    void centroidsAreTheMeansOfTheirRows() {
        // Far apart, so that each cluster soon has a centroid of its own.
        Random random = new Random(3);
        float[][] rows = vectors(400, 3, 10, random);
        for (int row = 0; row < rows.length; row++) {
            rows[row][0] += 1_000 * (row % 4);
        }
        float[][] centroids = trained(2, rows, 4);
        int[] nearest = nearest(rows, centroids);
        for (int i = 0; i < centroids.length; i++) {
            for (int d = 0; d < 3; d++) {
                double sum = 0;
                for (int row = i; row < rows.length; row += 4) {
                    assertThat(nearest[row]).isEqualTo(nearest[i]);
                    sum += rows[row][d];
                }
                assertThat(centroids[nearest[i]][d]).isEqualTo((float) (sum / 100));
            }
        }
    }

    /** With ties, and with more centroids than different rows, so that some are split. */
    @Test
    void theNumberOfWorkersDoesNotChangeCentroids() {
        float[][] rows = vectors(2_000, 3, 4, new Random(4));
        assertThat(trained(1, rows, 100)).isDeepEqualTo(trained(4, rows, 100));
    }

    /** Both centroids begin at the same place, so one has no rows. */
    @Test
    void aCentroidWithoutRowsTakesHalfOfTheLargest() {
        float[][] rows = new float[102][];
        Arrays.fill(rows, new float[] {3});
        Arrays.fill(rows, 0, 2, new float[] {1});
        assertThat(Arrays.stream(trained(2, rows, 2)).map(centroid -> centroid[0]))
                .containsExactlyInAnyOrder(1f, 3f);
    }

    /** All rows are in one cluster then, whose centroid is halved for the others. */
    @Test
    void centroidsOfEqualRowsOfTheLargestFloatsAreNumbers() {
        float[][] rows = new float[50][];
        Arrays.fill(rows, new float[] {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MAX_VALUE, 1});
        for (float[] centroid : trained(2, rows, 5)) {
            for (float component : centroid) {
                assertThat(component).isFinite();
            }
        }
    }
}
