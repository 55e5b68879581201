package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.QueryWeights;
import io.github.roost.vector.spi.BuildWork;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScalarCodecTest {
    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private ScalarCodec learn(Metric metric, float[]... rows) {
        return ScalarCodec.learn(
                metric, new BuildWork(orchestrator, "codec"), row -> rows[row], rows.length, rows[0].length);
    }

    @Test
    void aLearnedRowComesBackWithinHalfAStep() {
        Random random = new Random(1);
        float[][] rows = gaussian(5_000, 9, random);
        ScalarCodec codec = learn(Metric.SQUARED_L2, rows);
        for (float[] row : rows) {
            float[] decoded = codec.decode(codec.encode(row));
            for (int d = 0; d < row.length; d++) {
                assertThat(decoded[d])
                        .isCloseTo(
                                row[d], Offset.offset(.5001f * codec.quantizer().scales()[d]));
            }
        }
    }

    @Test
    void whatIsBeyondTheLearnedValuesBecomesTheNearestOfThem() {
        ScalarCodec codec = learn(Metric.SQUARED_L2, new float[] {-.5f, 3}, new float[] {2.05f, 3});
        assertThat(codec.decode(codec.encode(new float[] {-9, 8}))).containsExactly(-.5f, 8);
        assertThat(codec.decode(codec.encode(new float[] {9, 1_000}))[0]).isCloseTo(2.05f, Offset.offset(1e-5f));
    }

    /** The score and what is the same for all rows make the distance to what the codes stand for, nearly. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void scoresAreInTheOrderOfDistances(Metric metric) {
        Random random = new Random(2);
        float[][] rows = gaussian(300, 40, random);
        ScalarCodec codec = learn(metric, rows);
        float[] query = gaussian(1, 40, random)[0];
        QueryWeights.Bytes weights = codec.weights(query);
        double shift = Double.NaN;
        for (float[] row : rows) {
            byte[] codes = codec.encode(row);
            long sum = 0;
            for (int d = 0; d < 40; d++) {
                sum += (long) (Byte.toUnsignedInt(codes[d]) - 128) * weights.weights()[d];
            }
            double score = codec.term(row, codes) + (double) weights.slope() * sum;
            double distance = distance(metric, query, codec.decode(codes));
            shift = Double.isNaN(shift) ? distance - score : shift;
            assertThat(score + shift).isCloseTo(distance, Offset.offset(1.));
        }
    }

    @Test
    void theLargestFloatsGiveNumbers() {
        ScalarCodec codec =
                learn(Metric.SQUARED_L2, new float[] {-Float.MAX_VALUE, 0}, new float[] {Float.MAX_VALUE, 1e-40f});
        byte[] codes = codec.encode(new float[] {Float.MAX_VALUE, 0});
        assertThat(codec.term(new float[] {Float.MAX_VALUE, 0}, codes)).isFinite();
        QueryWeights.Bytes weights = codec.weights(new float[] {-Float.MAX_VALUE, 1});
        assertThat(weights.slope()).isFinite();
        assertThat(weights.weights()[0]).isEqualTo((byte) -127);
    }

    /** A rebuild of lists that keep bytes alone takes what these stand for as rows. */
    @Test
    void bytesNearTheLargestFloatsStandForNumbers() {
        ScalarCodec codec = learn(Metric.SQUARED_L2, new float[] {-Float.MAX_VALUE}, new float[] {Float.MAX_VALUE});
        assertThat(codec.decode(codec.encode(new float[] {-Float.MAX_VALUE}))).containsExactly(-Float.MAX_VALUE);
        for (int value = 0; value < 256; value++) {
            float decoded = codec.decode(new byte[] {(byte) value})[0];
            assertThat(decoded).isFinite();
            assertThat(decoded / Float.MAX_VALUE).isCloseTo(value / 127.5f - 1, Offset.offset(1e-5f));
        }
    }

    private static double distance(Metric metric, float[] a, float[] b) {
        double sum = 0;
        for (int d = 0; d < a.length; d++) {
            sum += metric == Metric.SQUARED_L2 ? ((double) a[d] - b[d]) * (a[d] - b[d]) : -(double) a[d] * b[d];
        }
        return sum;
    }
}
