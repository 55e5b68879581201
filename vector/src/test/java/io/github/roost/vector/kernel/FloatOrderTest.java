package io.github.roost.vector.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FloatOrderTest {
    private static final float[] EXTREMES = {
        Float.NEGATIVE_INFINITY,
        -Float.MAX_VALUE,
        -1,
        -Float.MIN_VALUE,
        -0f,
        0,
        Float.MIN_VALUE,
        1,
        Float.MAX_VALUE,
        Float.POSITIVE_INFINITY,
        Float.NaN
    };

    @Test
    void keysSortAsTheFloatsDo() {
        Random random = new Random(7);
        float[] values = Arrays.copyOf(EXTREMES, 10_000);
        for (int i = EXTREMES.length; i < values.length; i++) {
            values[i] = Float.intBitsToFloat(random.nextInt());
        }
        int[] keys = new int[values.length];
        Arrays.setAll(keys, i -> FloatOrder.key(values[i]));
        Arrays.sort(keys);
        Arrays.sort(values);
        for (int i = 0; i < keys.length; i++) {
            assertThat(Float.floatToIntBits(FloatOrder.value(keys[i]))).isEqualTo(Float.floatToIntBits(values[i]));
        }
    }

    @Test
    void bothZerosHaveOneKeyWhereZeroIsAdded() {
        assertThat(FloatOrder.key(-0f)).isLessThan(FloatOrder.key(0f));
        assertThat(FloatOrder.key(-0f + 0f)).isEqualTo(FloatOrder.key(0f));
    }
}
