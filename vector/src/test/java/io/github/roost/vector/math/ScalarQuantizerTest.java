package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ScalarQuantizerTest {
    private static float[] roundTrip(ScalarQuantizer quantizer, float... row) {
        byte[] codes = new byte[row.length];
        return quantizer.decode(codes, quantizer.encode(row, codes));
    }

    @Test
    void aRowLosesAtMostHalfAStepOfItsOwnScale() {
        Random random = new Random(1);
        ScalarQuantizer quantizer = new ScalarQuantizer(new float[] {3, -7, .5f, 1e6f});
        for (int i = 0; i < 1_000; i++) {
            float[] row = new float[4];
            float max = 0;
            for (int d = 0; d < 4; d++) {
                row[d] = quantizer.center()[d] + (float) (random.nextGaussian() * Math.pow(10, random.nextInt(9) - 4));
                max = Math.max(max, Math.abs(row[d] - quantizer.center()[d]));
            }
            float[] again = roundTrip(quantizer, row);
            for (int d = 0; d < 4; d++) {
                assertThat(again[d]).isCloseTo(row[d], Offset.offset(max / 127 * .51f + Math.ulp(row[d])));
            }
        }
    }

    @Test
    void anOddRowMovesNeitherCenterNorTheCodesOfOtherRows() {
        Random random = new Random(2);
        float[][] sample = new float[1_000][8];
        for (float[] row : sample) {
            for (int d = 0; d < row.length; d++) {
                row[d] = (float) random.nextGaussian();
            }
        }
        sample[500][3] = 1e9f;
        ScalarQuantizer quantizer = ScalarQuantizer.of(sample);
        float[] again = roundTrip(quantizer, sample[0]);
        for (int d = 0; d < 8; d++) {
            assertThat(quantizer.center()[d]).isBetween(-.2f, .2f);
            assertThat(again[d]).isCloseTo(sample[0][d], Offset.offset(.02f));
        }
        assertThat(roundTrip(quantizer, sample[500])[3]).isCloseTo(1e9f, Offset.offset(100f));
    }

    @Test
    void wholeNumbersWithinABytesRangeStayWhatTheyAre() {
        float[][] rows = {{-128, 0, 1_000}, {127, 255, 1_255}};
        ScalarQuantizer quantizer = ScalarQuantizer.of(rows);
        assertThat(quantizer.center()).containsExactly(0, 128, 1_128);
        assertThat(roundTrip(quantizer, -7, 200, 1_013)).containsExactly(-7, 200, 1_013);
        assertThat(roundTrip(quantizer, -128, 0, 1_255)).containsExactly(-128, 0, 1_255);
        assertThat(roundTrip(ScalarQuantizer.ofBytes(2), -128, 127)).containsExactly(-128, 127);
    }

    @Test
    void theCenterItselfIsExactAtAnyMagnitude() {
        ScalarQuantizer quantizer = ScalarQuantizer.of(new float[][] {{.5f, 1e30f}});
        assertThat(roundTrip(quantizer, .5f, 1e30f)).containsExactly(.5f, 1e30f);
    }

    @Test
    void valuesAtTheEndsOfTheFloatsAreFinite() {
        ScalarQuantizer quantizer = new ScalarQuantizer(new float[] {Float.MAX_VALUE, 0});
        float[] again = roundTrip(quantizer, -Float.MAX_VALUE, 1);
        assertThat(again[0]).isCloseTo(-Float.MAX_VALUE, Offset.offset(3e36f));
        assertThat(again[1]).isZero();
        byte[] codes = new byte[2];
        float scale = quantizer.encode(new float[] {-Float.MAX_VALUE, 1}, codes);
        assertThat(quantizer.term(false, codes, scale)).isEqualTo(Float.MAX_VALUE);
    }

    @Test
    void theTermIsTheSquaredDistanceOfWhatCodesStandForFromTheCenter() {
        ScalarQuantizer quantizer = new ScalarQuantizer(new float[] {5, 5});
        byte[] codes = {(byte) (128 + 6), (byte) (128 - 2)};
        assertThat(quantizer.term(false, codes, .5f)).isEqualTo(9 + 1);
        assertThat(quantizer.term(true, codes, .5f)).isZero();
    }

    @Test
    void aSampleIsEvenlySpacedAndWithinTheRows() {
        assertThat(ScalarQuantizer.sample(3)).containsExactly(0, 1, 2);
        assertThat(ScalarQuantizer.sample(1 << 30))
                .hasSize(1_024)
                .startsWith(0, 1 << 20)
                .endsWith(1_023 << 20);
    }
}
