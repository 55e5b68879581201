package io.github.roost.index.disk.update;

import io.github.roost.vector.Vectors;

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
}
