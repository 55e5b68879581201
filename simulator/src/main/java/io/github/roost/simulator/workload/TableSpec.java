package io.github.roost.simulator.workload;

import io.github.roost.simulator.workload.WorkloadSpec.Index;
import io.github.roost.simulator.workload.WorkloadSpec.Source;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Section;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * One table of a workload.
 *
 * @param name shown in reports
 * @param rowCount number of rows
 * @param dimension of the rows
 * @param k neighbors per search
 * @param seed of its rows and targets
 * @param made generates its rows and targets; a new copy per call
 */
public record TableSpec(String name, int rowCount, int dimension, int k, long seed, Supplier<Vectors> made) {
    /** Links of an HNSW node in layer 0, of the default M. */
    private static final int LAYER_0_LINKS = 32;
    /** Max ratio of the row counts of the largest and the smallest table. */
    private static final double SIZE_SPAN = 10;

    private static final int ROWS_PER_CENTER = 200;
    /** Of the order of the distance between centers, so that clusters overlap. */
    private static final float EMBEDDED_DEVIATION = .3f;
    /** The intrinsic dimension of embeddings: one or two dozen. */
    private static final int PLANE_DIMENSIONS = 16;

    private static final float DEVIATION = .15f;
    /** Distance of a target from the row that it was derived from, as a fraction of the deviation. */
    private static final float TARGET_OFFSET = .5f;

    /**
     * The rows and queries of a table.
     *
     * @param rows its rows
     * @param targets queries, most popular first
     */
    public record Vectors(float[][] rows, float[][] targets) {}

    /** Generates the table specs of a workload whose data are {@code mixture}. */
    public static List<TableSpec> generated(WorkloadSpec spec) {
        if (spec.data() != Source.MIXTURE) {
            throw new IllegalArgumentException("workload " + spec.name() + " must be of generated rows");
        }
        SplittableRandom random = new SplittableRandom(spec.seed());
        double[] shares = new double[spec.tables()];
        Arrays.setAll(shares, table -> Math.pow(SIZE_SPAN, random.nextDouble()));
        double sum = Arrays.stream(shares).sum();
        List<TableSpec> tables = new ArrayList<>();
        for (int table = 0; table < spec.tables(); table++) {
            int dimension = spec.dimensions().get(table % spec.dimensions().size());
            double bytes = shares[table] / sum * spec.budgetMib() * (1 << 20);
            int rows = (int) Math.max(1, bytes / bytesPerRow(spec, dimension));
            int k = Math.min(rows, spec.leastK() + random.nextInt(spec.mostK() - spec.leastK() + 1));
            long seed = random.nextLong();
            tables.add(new TableSpec(
                    "table-" + table, rows, dimension, k, seed, () -> mixture(rows, dimension, spec.targets(), seed)));
        }
        return List.copyOf(tables);
    }

    private static int bytesPerRow(WorkloadSpec spec, int dimension) {
        return dimension * Float.BYTES + (spec.index() == Index.HNSW ? LAYER_0_LINKS * Integer.BYTES : 0);
    }

    /** The table specs of a workload of Debian packages: the largest sections, searched with the data set's queries. */
    public static List<TableSpec> ofPackages(WorkloadSpec spec, DebianPackages packages) {
        List<TableSpec> tables = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(spec.seed());
        for (Section section : packages.sections()) {
            if (tables.size() == spec.tables()) {
                break;
            }
            int k = Math.min(section.rows().length, spec.leastK() + random.nextInt(spec.mostK() - spec.leastK() + 1));
            float[][] rows = Arrays.stream(section.rows())
                    .mapToObj(row -> packages.vectors()[row])
                    .toArray(float[][]::new);
            long seed = random.nextLong();
            tables.add(new TableSpec(
                    section.name(),
                    rows.length,
                    DebianPackages.DIMENSION,
                    k,
                    seed,
                    () -> new Vectors(rows, queriesAbout(section, packages, spec.targets(), seed))));
        }
        return List.copyOf(tables);
    }

    private static float[][] queriesAbout(Section section, DebianPackages packages, int targets, long seed) {
        List<float[]> about = packages.queries().stream()
                .filter(query -> query.section().equals(section.name()))
                .map(DebianPackages.Query::vector)
                .toList();
        List<float[]> anything =
                packages.queries().stream().map(DebianPackages.Query::vector).toList();
        List<float[]> requested = about.isEmpty() ? anything : about;
        SplittableRandom random = new SplittableRandom(seed);
        float[][] drawn = new float[targets][];
        Arrays.setAll(
                drawn, i -> i < requested.size() ? requested.get(i) : requested.get(random.nextInt(requested.size())));
        return drawn;
    }

    /** Draws rows of a mixture of Gaussians in the unit cube; targets lie near rows. */
    private static Vectors mixture(int rowCount, int dimension, int targetCount, long seed) {
        return mixture(rowCount, dimension, targetCount, ROWS_PER_CENTER, DEVIATION, seed);
    }

    /**
     * Draws rows distributed like embeddings: high-dimensional, but in a subspace of few dimensions. They are a mixture of Gaussians in that
     * subspace, mapped into the full space by random axes, which nearly preserves relative distances.
     *
     * @param rowsPerCenter rows per Gaussian, more than the neighbors that searches want
     */
    public static Vectors embeddings(int rowCount, int dimension, int targetCount, int rowsPerCenter, long seed) {
        int plane = Math.min(PLANE_DIMENSIONS, dimension);
        Vectors flat = mixture(rowCount, plane, targetCount, rowsPerCenter, EMBEDDED_DEVIATION, seed);
        SplittableRandom random = new SplittableRandom(~seed);
        float[][] axes = new float[plane][dimension];
        for (float[] axis : axes) {
            for (int i = 0; i < dimension; i++) {
                axis[i] = (float) (random.nextGaussian() / Math.sqrt(dimension));
            }
        }
        return new Vectors(turned(flat.rows, axes), turned(flat.targets, axes));
    }

    private static float[][] turned(float[][] points, float[][] axes) {
        return Arrays.stream(points)
                .map(point -> {
                    float[] turned = new float[axes[0].length];
                    for (int axis = 0; axis < axes.length; axis++) {
                        for (int i = 0; i < turned.length; i++) {
                            turned[i] += point[axis] * axes[axis][i];
                        }
                    }
                    return turned;
                })
                .toArray(float[][]::new);
    }

    private static Vectors mixture(
            int rowCount, int dimension, int targetCount, int rowsPerCenter, float deviation, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[][] centers = new float[1 + rowCount / rowsPerCenter][dimension];
        for (float[] center : centers) {
            for (int i = 0; i < dimension; i++) {
                center[i] = random.nextFloat();
            }
        }
        float[][] rows = new float[rowCount][];
        Arrays.setAll(rows, row -> near(centers[random.nextInt(centers.length)], deviation, random));
        float[][] targets = new float[targetCount][];
        Arrays.setAll(targets, target -> near(rows[random.nextInt(rowCount)], deviation * TARGET_OFFSET, random));
        return new Vectors(rows, targets);
    }

    private static float[] near(float[] point, float deviation, SplittableRandom random) {
        float[] moved = point.clone();
        for (int i = 0; i < moved.length; i++) {
            moved[i] += (float) (deviation * random.nextGaussian());
        }
        return moved;
    }
}
