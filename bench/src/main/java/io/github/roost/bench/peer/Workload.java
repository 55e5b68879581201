package io.github.roost.bench.peer;

import io.github.roost.bench.Mixture;
import java.util.SplittableRandom;

/**
 * What all engines are given. Arrays are not copied.
 *
 * @param name for the report
 * @param rows vectors of one dimension
 * @param queries of the same dimension
 */
public record Workload(String name, float[][] rows, float[][] queries) {
    /**
     * Rows and queries drawn from one {@link Mixture}.
     *
     * @param seed makes it reproducible
     */
    public static Workload mixture(int rows, int queries, int dimension, int centres, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Mixture mixture = Mixture.of(centres, dimension, random);
        return new Workload(
                "%,d x %d mixture of %,d".formatted(rows, dimension, centres),
                mixture.draw(rows, random),
                mixture.draw(queries, random));
    }

    /** Components of a vector. */
    public int dimension() {
        return rows[0].length;
    }
}
