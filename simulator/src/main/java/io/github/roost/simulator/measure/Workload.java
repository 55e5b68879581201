package io.github.roost.simulator.measure;

import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The rows and queries that all engines get. Arrays are not copied.
 *
 * @param name for the report
 * @param rows vectors of one dimension
 * @param queries of the same dimension
 * @param metric by which rows are near to a query
 */
public record Workload(String name, float[][] rows, float[][] queries, Metric metric) {
    /** Rows and queries that are compared by squared Euclidean distance. */
    public Workload(String name, float[][] rows, float[][] queries) {
        this(name, rows, queries, Metric.SQUARED_L2);
    }

    /** The same rows and queries, compared by the inner product. */
    public Workload byInnerProduct() {
        return new Workload(name + ", inner product", rows, queries, Metric.INNER_PRODUCT);
    }

    /**
     * The same queries, and rows of various norms: each row is multiplied by e to the power of a normal random number.
     *
     * @param spread standard deviation of the random numbers
     * @param seed of the random numbers
     */
    public Workload withVariousNorms(double spread, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[][] scaled = new float[rows.length][];
        for (int row = 0; row < rows.length; row++) {
            float factor = (float) Math.exp(spread * random.nextGaussian());
            scaled[row] = rows[row].clone();
            for (int i = 0; i < scaled[row].length; i++) {
                scaled[row][i] *= factor;
            }
        }
        return new Workload(name + ", norms spread by " + spread, scaled, queries, metric);
    }

    /**
     * Draws rows and queries from one {@link Mixture}.
     *
     * @param seed of the random numbers
     */
    public static Workload mixture(int rows, int queries, int dimension, int centers, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Mixture mixture = Mixture.of(centers, dimension, random);
        return new Workload(
                "%,d x %d mixture of %,d".formatted(rows, dimension, centers),
                mixture.draw(rows, random),
                mixture.draw(queries, random));
    }

    /**
     * The Debian packages, and phrases to search them by.
     *
     * @param folder of the packages
     * @param queries max number of queries
     */
    public static Workload packages(Path folder, int queries) throws IOException {
        DebianPackages packages = DebianPackages.read(folder);
        return new Workload(
                "%,d x %d Debian packages".formatted(packages.vectors().length, DebianPackages.DIMENSION),
                packages.vectors(),
                Stream.concat(packages.queries().stream(), packages.phrases().stream())
                        .limit(queries)
                        .map(DebianPackages.Query::vector)
                        .toArray(float[][]::new));
    }

    /** The number of components of a vector. */
    public int dimension() {
        return rows[0].length;
    }
}
