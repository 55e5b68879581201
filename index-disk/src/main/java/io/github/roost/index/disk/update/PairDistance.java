package io.github.roost.index.disk.update;

import io.github.roost.vector.Vectors;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Squared distance of two vectors on the heap, bit-equal in every call: interrupted steps of an update are repeated, and must choose
 * alike. ({@code reduceLanes} of the Vector API, which jvector uses, adds in another order once the code has been
 * compiled.)
 */
@FunctionalInterface
interface PairDistance {
    /** Uses the Vector API if the JVM runs with its module. */
    PairDistance SQUARED = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()
            ? new VectorPairDistance()
            : Vectors::squaredDistance;

    /** The squared distance of vectors of the same length. */
    float between(float[] a, float[] b);

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
                difference =
                        FloatVector.fromArray(SPECIES, a, d + LANES).sub(FloatVector.fromArray(SPECIES, b, d + LANES));
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
}
