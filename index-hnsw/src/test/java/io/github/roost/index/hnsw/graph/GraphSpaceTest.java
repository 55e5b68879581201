package io.github.roost.index.hnsw.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Metric;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GraphSpaceTest {
    @ParameterizedTest
    @EnumSource(
            value = Metric.class,
            names = {"SQUARED_L2", "INNER_PRODUCT"})
    void aRowOfZeroesFitsAmongOthersAndTheyFitWithIt(Metric metric) {
        float[] zero = new float[2];
        float[] normal = {1, -3};
        assertThat(GraphSpace.around(normal, metric).fits(zero)).isTrue();
        GraphSpace ofZero = GraphSpace.around(zero, metric);
        assertThat(ofZero).isEqualTo(new GraphSpace(metric, 0, 0));
        assertThat(ofZero.fits(normal)).isTrue();
        assertThat(ofZero.fits(zero)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-170, -127, -126, -31, -1, 0, 1, 31, 126, 127, 170})
    void queriesAreScaledByAPowerOfTwoAndClamped(int exponent) {
        float[] values = {0, 1.5f, -3, Float.MIN_VALUE, 0x1.8p-130f, -0x1.fffffep-100f};
        float[] written = new float[values.length];
        GraphSpace.QueryScale scale = new GraphSpace(Metric.SQUARED_L2, exponent, 0)
                .write(values, query -> System.arraycopy(query, 0, written, 0, query.length));
        float[] expected = new float[values.length];
        boolean clamped = false;
        for (int i = 0; i < values.length; i++) {
            float scaled = Math.scalb(values[i], exponent);
            expected[i] = Math.clamp(scaled, -0x1p56f, 0x1p56f);
            clamped |= expected[i] != scaled;
        }
        assertThat(written).isEqualTo(expected);
        assertThat(scale.far()).isEqualTo(clamped);
        assertThat(scale.squaredNorm()).isEqualTo(clamped ? (float) GraphSpace.squaredNorm(values) : 0);
    }
}
