package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NearestFirstTest {
    /** Even, crowded, tied, and with values so far out that scales overflow or vanish. */
    private static float distance(int kind, Random random) {
        return switch (kind) {
            case 0 -> random.nextFloat();
            case 1 -> (float) random.nextGaussian();
            case 2 -> random.nextInt(5);
            case 3 -> random.nextInt(40) == 0 ? 1e30f : random.nextFloat();
            case 4 -> random.nextInt(3) == 0 ? Float.POSITIVE_INFINITY : random.nextFloat();
            case 5 -> random.nextBoolean() ? Float.MAX_VALUE : -Float.MAX_VALUE;
            case 6 -> random.nextBoolean() ? 0f : -0f;
            default -> Float.MIN_VALUE * random.nextInt(100);
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 24, 25, 26, 150, 1_000})
    void rowsAreInTheOrderOfTheirDistancesAndTiesInThatOfTheirIds(int rows) {
        Random random = new Random(rows);
        for (int kind = 0; kind < 8; kind++) {
            for (int trial = 0; trial < 20; trial++) {
                long[] ids = random.longs(rows).toArray();
                float[] distances = new float[rows];
                for (int i = 0; i < rows; i++) {
                    distances[i] = distance(kind, random);
                }
                int limit = 1 + random.nextInt(rows + 1);
                List<Integer> order = IntStream.range(0, rows)
                        .boxed()
                        // As numbers: the two zeros are one.
                        .sorted(Comparator.<Integer>comparingDouble(i -> distances[i] + 0f)
                                .thenComparingLong(i -> ids[i]))
                        .limit(limit)
                        .toList();
                for (ScanKernel kernel : ScanKernels.available()) {
                    // Zeros follow that are not among the rows.
                    SearchResult found = NearestFirst.of(
                            kernel, Arrays.copyOf(ids, rows + 3), Arrays.copyOf(distances, rows + 3), rows, limit);
                    assertThat(found.ids())
                            .as("%s, kind %d: %s", kernel.name(), kind, Arrays.toString(distances))
                            .isEqualTo(order.stream().mapToLong(i -> ids[i]).toArray());
                    for (int i = 0; i < found.size(); i++) {
                        assertThat(found.distances()[i] == distances[order.get(i)])
                                .isTrue();
                    }
                }
            }
        }
    }
}
