package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.ivf.kernel.PlainScan;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.vector.Metric;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kernel, by way of bytes or not, against all distances sorted. */
class CoarseQuantizerTest {
    static List<ScanKernel> kernels() {
        return ScanKernels.available();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void theNearestCentroidsAreTheNearestToTheBit(ScanKernel kernel) {
        Random random = new Random(21);
        List<DoubleUnaryOperator> shapes = List.of(
                value -> value,
                // Whole numbers, of which many distances tie.
                Math::rint,
                // Far from nothing, so that lengths dwarf differences.
                value -> 1e4 + value,
                value -> 1e15 * value,
                value -> 1e-15 * value,
                // So large that squares overflow.
                value -> 1e37 * value);
        for (int dimension : new int[] {1, 3, 16, 128, 300}) {
            for (DoubleUnaryOperator shape : shapes) {
                float[][] centroids = vectors(random, 130 + random.nextInt(600), dimension, shape);
                CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
                for (Metric metric : List.of(Metric.SQUARED_L2, Metric.INNER_PRODUCT)) {
                    for (float[] query : vectors(random, 5, dimension, shape)) {
                        assertNearest(quantizer, centroids, query, 1 + random.nextInt(centroids.length / 4), metric);
                        assertNearest(quantizer, centroids, query, 1, metric);
                    }
                    assertNearest(quantizer, centroids, centroids[7], 5, metric);
                }
            }
        }
    }

    /** A row near such a centroid may still be found. */
    @ParameterizedTest
    @MethodSource("kernels")
    void listsWhoseDistanceIsNoNumberComeLast(ScanKernel kernel) {
        float[][] centroids = {{20, 20}, {1, 0}, {30, 30}};
        CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
        float[][] query = {{3e38f, -3e38f}};
        assertThat(quantizer.nearest(query, 2, Metric.INNER_PRODUCT)).isDeepEqualTo(new int[][] {{1, 0}});
        assertThat(quantizer.nearest(query, 3, Metric.INNER_PRODUCT)).isDeepEqualTo(new int[][] {{1, 0, 2}});
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void eachRowGoesToItsNearestCentroid(ScanKernel kernel) {
        Random random = new Random(22);
        float[][] centroids = vectors(random, 500, 20, Math::rint);
        float[][] rows = vectors(random, 200, 20, Math::rint);
        int[] lists = new int[rows.length];
        new CoarseQuantizer(kernel, centroids).assign(row -> rows[row], 3, rows.length, lists);
        for (int row = 3; row < rows.length; row++) {
            assertThat((long) lists[row]).isEqualTo(nearest(centroids, rows[row], 1, Metric.SQUARED_L2)[0]);
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void queriesTogetherFindWhatEachFindsAlone(ScanKernel kernel) {
        Random random = new Random(23);
        float[][] centroids = vectors(random, 300, 20, x -> x);
        CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
        for (int together : new int[] {1, 2, 3, 4, 5, 64, 65, 150}) {
            float[][] queries = vectors(random, together, 20, x -> x);
            for (Metric metric : Metric.values()) {
                int[][] found = quantizer.nearest(queries, 17, metric);
                for (int i = 0; i < together; i++) {
                    assertThat(found[i]).isEqualTo(quantizer.nearest(new float[][] {queries[i]}, 17, metric)[0]);
                }
            }
        }
    }

    private static void assertNearest(
            CoarseQuantizer quantizer, float[][] centroids, float[] query, int count, Metric metric) {
        int[] nearest = LongStream.of(nearest(centroids, query, count, metric))
                .mapToInt(Math::toIntExact)
                .toArray();
        int[] found = quantizer.nearest(new float[][] {query}, count, metric)[0];
        assertThat(found).hasSize(count).doesNotHaveDuplicates();
        assertThat(Arrays.copyOf(found, nearest.length))
                .as("%d of %d centroids of dimension %d, %s", count, centroids.length, query.length, metric)
                .isEqualTo(nearest);
    }

    /** Without those whose distance is no number. */
    private static long[] nearest(float[][] centroids, float[] query, int count, Metric metric) {
        long[] numbers = LongStream.range(0, centroids.length)
                .filter(i -> !Float.isNaN(PlainScan.distance(metric, centroids[(int) i], query)))
                .toArray();
        float[][] compared =
                LongStream.of(numbers).mapToObj(i -> centroids[(int) i]).toArray(float[][]::new);
        return PlainScan.nearest(metric, compared, numbers, query, count).ids();
    }

    private static float[][] vectors(Random random, int count, int dimension, DoubleUnaryOperator shape) {
        float[][] vectors = new float[count][dimension];
        for (float[] vector : vectors) {
            for (int d = 0; d < dimension; d++) {
                vector[d] = (float) shape.applyAsDouble(3 * random.nextGaussian());
            }
        }
        return vectors;
    }
}
