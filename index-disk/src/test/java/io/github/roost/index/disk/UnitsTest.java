package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No answer depends on the unit of the vectors, nor on a few odd ones. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnitsTest extends OnDevice {
    private static final int BUILT = 1_300;
    private static final int ALL = 1_500;

    /** Recall of a table, some rows of which are put after the build and some put again, of queries near its rows. */
    private double recall(float by, UnaryOperator<float[][]> change) throws Exception {
        float[][] rows = change.apply(gaussian(ALL, 16, 4));
        try (MutableDiskTable table = build(Arrays.copyOf(rows, BUILT))) {
            removeAll(table, 0, 200);
            putAll(table, rows, BUILT, ALL);
            putAll(table, rows, 0, 200);
            float[] own = table.vector(ALL - 1);
            assertThat(own).containsExactly(rows[ALL - 1]);
            return recall(table, rows, by, 50);
        }
    }

    private static float[][] each(float[][] rows, UnaryOperator<Float> component) {
        for (float[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                row[i] = component.apply(row[i]);
            }
        }
        return rows;
    }

    @ParameterizedTest
    @ValueSource(floats = {1e-22f, 1e-10f, 1e-4f, 1e4f, 1e15f})
    void theUnitChangesNothing(float unit) throws Exception {
        double plain = recall(.3f, rows -> rows);
        assertThat(plain).isGreaterThan(.98);
        assertThat(recall(.3f * unit, rows -> each(rows, one -> one * unit))).isGreaterThanOrEqualTo(plain - .01);
    }

    @ParameterizedTest
    @ValueSource(floats = {100, 10_000})
    void anOffsetChangesNothing(float offset) throws Exception {
        assertThat(recall(.3f, rows -> each(rows, one -> one + offset))).isGreaterThan(.97);
    }

    @Test
    void wholeNumbersAreFoundAsOthersAre() throws Exception {
        assertThat(recall(10, rows -> each(rows, one -> (float) Math.round(Math.clamp(one * 40, -128, 127)))))
                .isGreaterThan(.97);
    }

    @ParameterizedTest
    @ValueSource(floats = {1e6f, 1e12f, 1e20f})
    void oneFarRowChangesNothingForTheOthers(float far) throws Exception {
        assertThat(recall(.3f, rows -> {
                    rows[700][3] = far;
                    return rows;
                }))
                .isGreaterThan(.96);
    }

    @Test
    void oneWideComponentOfOneRowChangesNothing() throws Exception {
        assertThat(recall(.3f, rows -> {
                    rows[1_450][3] = 100;
                    return rows;
                }))
                .isGreaterThan(.97);
    }

    @Test
    void twoRegionsFarFromEachOtherAreSearchedAsOneIs() throws Exception {
        assertThat(recall(.3f, rows -> {
                    for (int row = 0; row < rows.length; row += 2) {
                        for (int i = 0; i < 16; i++) {
                            rows[row][i] += 500;
                        }
                    }
                    return rows;
                }))
                .isGreaterThan(.97);
    }
}
