package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Metric;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
}
