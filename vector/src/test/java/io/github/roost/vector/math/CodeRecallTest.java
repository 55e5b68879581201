package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Metric;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CodeRecallTest {
    private static float[][] gaussian(int rows, int dimension, float offsetOfHalf) {
        Random random = new Random(3);
        float[][] table = new float[rows][dimension];
        for (int i = 0; i < rows; i++) {
            for (int d = 0; d < dimension; d++) {
                table[i][d] = (float) random.nextGaussian() + (i % 2) * offsetOfHalf;
            }
        }
        return table;
    }

    private static double recall(Metric metric, float[][] rows) {
        return CodeRecall.of(metric, ScalarQuantizer.of(rows), row -> rows[row], rows.length);
    }

    @Test
    void ordinaryRowsLoseLittleInAnyUnitAndWithAnOddRow() {
        for (Metric metric : new Metric[] {Metric.SQUARED_L2, Metric.INNER_PRODUCT}) {
            for (float unit : new float[] {1e-15f, 1, 1e12f}) {
                float[][] rows = gaussian(2_000, 32, 0);
                for (float[] row : rows) {
                    for (int d = 0; d < row.length; d++) {
                        row[d] *= unit;
                    }
                }
                rows[700][5] = 1e4f * unit;
                assertThat(recall(metric, rows)).as("%s in %s", metric, unit).isGreaterThan(.96);
            }
        }
    }

    @Test
    void rowsNearerThanTheStepsOfTheirCodesAreSeenToLose() {
        assertThat(recall(Metric.SQUARED_L2, gaussian(2_000, 32, 500))).isLessThan(.7);
    }

    @Test
    void equalRowsAndOneRowLoseNothing() {
        float[][] equal = new float[50][4];
        assertThat(recall(Metric.SQUARED_L2, equal)).isEqualTo(1);
        assertThat(recall(Metric.SQUARED_L2, new float[1][4])).isEqualTo(1);
    }
}
