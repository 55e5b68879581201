package io.github.roost.simulator.measure;

import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
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

    /** Rows and queries of length one, compared by the angle. None may be zero. */
    public Workload byCosine() {
        return new Workload(name + ", cosine", ofLengthOne(rows), ofLengthOne(queries), Metric.COSINE);
    }

    private static float[][] ofLengthOne(float[][] vectors) {
        return Arrays.stream(vectors).map(Workload::ofLengthOne).toArray(float[][]::new);
    }

    private static float[] ofLengthOne(float[] vector) {
        double squares = 0;
        for (float component : vector) {
            squares += (double) component * component;
        }
        float[] one = new float[vector.length];
        for (int i = 0; i < one.length; i++) {
            one[i] = (float) (vector[i] / Math.sqrt(squares));
        }
        return one;
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

    /**
     * Splits vectors into rows and queries, none of which is a row. Both are in random order, which the seed and the number of vectors decide.
     *
     * @param rows max number of rows
     * @param queries max number of queries, at most a tenth of the vectors
     * @param seed of the random order
     * @throws IllegalArgumentException if there are fewer than ten vectors
     */
    public static Workload split(String name, float[][] vectors, int rows, int queries, long seed) {
        if (vectors.length < 10) {
            throw new IllegalArgumentException("there must be at least 10 vectors, got " + vectors.length);
        }
        float[][] shuffled = vectors.clone();
        SplittableRandom random = new SplittableRandom(seed);
        for (int last = shuffled.length - 1; last > 0; last--) {
            int other = random.nextInt(last + 1);
            float[] swapped = shuffled[last];
            shuffled[last] = shuffled[other];
            shuffled[other] = swapped;
        }
        int asked = Math.min(queries, shuffled.length / 10);
        int end = (int) Math.min(shuffled.length, (long) asked + rows);
        return new Workload(
                "%,d x %d %s".formatted(end - asked, shuffled[0].length, name),
                Arrays.copyOfRange(shuffled, asked, end),
                Arrays.copyOf(shuffled, asked));
    }

    /**
     * The first 16 digits of the SHA-256 of vectors as little-endian 32-bit floats.
     *
     * @param vectors at least one, of one width
     */
    public static String checksum(float[][] vectors) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        ByteBuffer bytes = ByteBuffer.allocate(vectors[0].length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float[] vector : vectors) {
            bytes.asFloatBuffer().put(vector);
            digest.update(bytes.array());
        }
        return HexFormat.of().formatHex(digest.digest()).substring(0, 16);
    }

    /** The number of components of a vector. */
    public int dimension() {
        return rows[0].length;
    }
}
