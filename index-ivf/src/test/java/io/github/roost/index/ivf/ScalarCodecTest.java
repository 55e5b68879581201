package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.index.ivf.kernel.ScoredRows;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScalarCodecTest {
    private static final int DIMENSION = 40;

    /** With a center, rows and a query of many magnitudes: what is promised of scores holds. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void theDistanceOfARowIsWithinTheMarginOfItsScore(Metric metric) {
        Random random = new Random(2);
        ScanKernel kernel = ScanKernels.preferred();
        for (int trial = 0; trial < 60; trial++) {
            RowPreparation preparation = new RowPreparation(metric, DIMENSION, ElementType.FLOAT32);
            float[] center =
                    scaled(gaussian(1, DIMENSION, random)[0], trial % 3 == 0 ? 0 : Math.pow(10, random.nextInt(5) - 1));
            float[][] rows = gaussian(100, DIMENSION, random);
            for (int i = 0; i < rows.length; i++) {
                double size = Math.pow(10, trial % 4 - 2) * (i % 50 == 0 ? 100 : 1);
                for (int d = 0; d < DIMENSION; d++) {
                    rows[i][d] = (float) (center[d] + size * rows[i][d]);
                }
                rows[i] = preparation.stored(rows[i]);
            }
            float[] query =
                    preparation.stored(scaled(gaussian(1, DIMENSION, random)[0], Math.pow(10, random.nextInt(4) - 1)));
            ScalarCodec codec = ScalarCodec.of(metric, new ScalarQuantizer(center), rows);
            CodeRun run = CodeRun.allocate(Arena.ofAuto(), rows.length, CodeRun.strideOf(DIMENSION));
            for (int i = 0; i < rows.length; i++) {
                codec.write(run, i, rows[i], true);
            }
            CodeGroup group = new CodeGroup();
            group.begin(metric, center);
            group.add(query);
            kernel.weigh(group);
            ScoreMargin margin = codec.margin(group, 0);
            group.lowerScores(0, margin.scoreError());
            group.bound(0, Float.POSITIVE_INFINITY);
            kernel.scan(run, 0, rows.length, group);
            ScoredRows scored = new ScoredRows();
            scored.add(group, 0, 0);
            int certain = 0;
            for (int i = 0; i < rows.length; i++) {
                double distance = distance(metric, query, rows[i]);
                if (scored.score(i) <= ScoreMargin.CERTAIN) {
                    certain++;
                } else {
                    assertThat(scored.score(i)).isLessThanOrEqualTo(margin.within(Math.nextUp((float) distance)));
                    assertThat(distance).isLessThanOrEqualTo(margin.farthest(scored.score(i)));
                }
            }
            // Rows a hundred times as far as the others would widen the margin of all.
            assertThat(certain).isBetween(metric == Metric.COSINE ? 0 : 2, 20);
        }
    }

    @Test
    void rowsOfTheLargestFloatsAreFoundByEveryScan() {
        ScalarCodec codec =
                ScalarCodec.of(Metric.SQUARED_L2, new ScalarQuantizer(new float[2]), gaussian(9, 2, new Random(3)));
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), 1, 4);
        for (float value : new float[] {-Float.MAX_VALUE, Float.MAX_VALUE, 1e20f}) {
            codec.write(run, 0, new float[] {value, 0}, true);
            assertThat(run.term(0)).isEqualTo(-Float.MAX_VALUE);
            for (float component : new float[] {0, 1e19f, Float.MAX_VALUE, -Float.MAX_VALUE}) {
                CodeGroup group = new CodeGroup();
                group.begin(Metric.SQUARED_L2, codec.quantizer().center());
                group.add(new float[] {component, component});
                ScanKernels.preferred().weigh(group);
                group.bound(0, ScoreMargin.CERTAIN);
                ScanKernels.preferred().scan(run, 0, 1, group);
                assertThat(group.found(0)).isEqualTo(1);
            }
        }
    }

    private static float[] scaled(float[] row, double factor) {
        for (int d = 0; d < row.length; d++) {
            row[d] *= (float) factor;
        }
        return row;
    }

    private static double distance(Metric metric, float[] a, float[] b) {
        double sum = metric == Metric.COSINE ? 1 : 0;
        for (int d = 0; d < a.length; d++) {
            sum += metric == Metric.SQUARED_L2 ? ((double) a[d] - b[d]) * (a[d] - b[d]) : -(double) a[d] * b[d];
        }
        return sum;
    }
}
