package io.github.roost.index.disk.update;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Squared distance by the Vector API, in two registers of 8 lanes, which every CPU with AVX2 or better has. */
final class VectorPairDistance implements PairDistance {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_256;
    private static final int LANES = SPECIES.length();

    @Override
    public float between(float[] a, float[] b) {
        FloatVector low = FloatVector.zero(SPECIES);
        FloatVector high = low;
        int d = 0;
        for (; d + 2 * LANES <= a.length; d += 2 * LANES) {
            FloatVector difference = FloatVector.fromArray(SPECIES, a, d).sub(FloatVector.fromArray(SPECIES, b, d));
            low = difference.fma(difference, low);
            difference = FloatVector.fromArray(SPECIES, a, d + LANES).sub(FloatVector.fromArray(SPECIES, b, d + LANES));
            high = difference.fma(difference, high);
        }
        if (d + LANES <= a.length) {
            FloatVector difference = FloatVector.fromArray(SPECIES, a, d).sub(FloatVector.fromArray(SPECIES, b, d));
            low = difference.fma(difference, low);
            d += LANES;
        }
        float sum = fold(low.add(high));
        for (; d < a.length; d++) {
            float difference = a[d] - b[d];
            sum += difference * difference;
        }
        return sum;
    }

    /** Lane by lane, in a fixed order. */
    private static float fold(FloatVector sums) {
        float first = sums.lane(0) + sums.lane(4);
        float second = sums.lane(1) + sums.lane(5);
        float third = sums.lane(2) + sums.lane(6);
        float fourth = sums.lane(3) + sums.lane(7);
        return (first + third) + (second + fourth);
    }
}
