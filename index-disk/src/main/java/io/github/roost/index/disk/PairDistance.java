package io.github.roost.index.disk;

import io.github.roost.core.Vectors;

/**
 * Squared distances of two vectors on the heap, the same bit for bit in every call: steps of an update are done again where they
 * were broken off, and must choose alike. ({@code reduceLanes} of the Vector API, by which jvector adds, adds in another order when
 * the code has been compiled.)
 */
@FunctionalInterface
interface PairDistance {
    /** By the Vector API where the JVM has been given it. */
    PairDistance SQUARED = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()
            ? new VectorPairDistance()
            : Vectors::squaredDistance;

    /** Of vectors of the same length. */
    float between(float[] a, float[] b);
}
