package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.roost.vector.math.ScalarQuantizer.Ranges;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ScalarQuantizerTest {
    private static Ranges rangesOf(float[]... rows) {
        Ranges ranges = new Ranges(rows[0].length);
        for (float[] row : rows) {
            ranges.add(row);
        }
        return ranges;
    }

    private static float[] roundTrip(ScalarQuantizer quantizer, float... row) {
        byte[] codes = new byte[row.length];
        quantizer.encode(row, codes);
        return quantizer.decode(codes);
    }

    @Test
    void theLeastAndTheGreatestValueComeBackAndWhatIsOutsideBecomesOneOfThem() {
        ScalarQuantizer quantizer =
                rangesOf(new float[] {-.5f}, new float[] {2.05f}).evenSteps();
        for (float value : new float[] {-.5f, -9}) {
            assertThat(roundTrip(quantizer, value)[0]).isCloseTo(-.5f, Offset.offset(1e-5f));
        }
        for (float value : new float[] {2.05f, 1e30f}) {
            assertThat(roundTrip(quantizer, value)[0]).isCloseTo(2.05f, Offset.offset(1e-5f));
        }
    }

    @Test
    void wholeNumbersWithinABytesRangeStayWhatTheyAre() {
        float[][] rows = {{-128, 0, 1_000}, {127, 255, 1_255}};
        ScalarQuantizer quantizer = rangesOf(rows).wholeOrEvenSteps();
        assertThat(quantizer.scales()).containsExactly(1, 1, 1);
        assertThat(quantizer.zeroPoints()).containsExactly(0, 128, 1_128);
        assertThat(roundTrip(quantizer, -7, 200, 1_013)).containsExactly(-7, 200, 1_013);
    }

    @Test
    void aDimensionOfOneFractionIsOneCode() {
        ScalarQuantizer quantizer =
                rangesOf(new float[] {.5f}, new float[] {.5f}).wholeOrEvenSteps();
        assertThat(quantizer.scales()).containsExactly(0);
        assertThat(roundTrip(quantizer, .5f)).containsExactly(.5f);
    }

    @Test
    void rangesOfPartsAreTheRangesOfTheWhole() {
        Ranges whole = rangesOf(new float[] {1, .5f}, new float[] {9, 4}, new float[] {-3, 2});
        Ranges parts = rangesOf(new float[] {1, .5f});
        parts.add(rangesOf(new float[] {9, 4}, new float[] {-3, 2}));
        assertThat(parts.wholeOrEvenSteps()).isEqualTo(whole.wholeOrEvenSteps());
        assertThat(parts.evenSteps()).isEqualTo(whole.evenSteps());
    }

    @Test
    void rangesOfASampleAreWidenedByAnEighthButForBytes() {
        Ranges ranges = rangesOf(new float[] {0, 0}, new float[] {.8f, 8});
        ranges.widen();
        ScalarQuantizer quantizer = ranges.wholeOrEvenSteps();
        assertThat(roundTrip(quantizer, -1, -1)[0]).isCloseTo(-.1f, Offset.offset(1e-5f));
        assertThat(quantizer.scales()[1]).isEqualTo(1);
    }

    @Test
    void theSquaredNormIsOfWhatCodesStandForFromTheZeroPoints() {
        ScalarQuantizer quantizer = new ScalarQuantizer(new float[] {5, 5}, new float[] {.5f, 2});
        assertThat(quantizer.term(false, new byte[] {(byte) (128 + 6), (byte) (128 - 2)}))
                .isEqualTo(9 + 16);
    }

    @Test
    void thereAreAsManyZeroPointsAsScales() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ScalarQuantizer(new float[2], new float[3]))
                .withMessage("zero points and scales must have one length, got 2 and 3");
    }
}
