package io.github.roost.bench.workload;

import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.bench.packages.DebianPackages.Section;
import io.github.roost.bench.workload.WorkloadSpec.Index;
import io.github.roost.bench.workload.WorkloadSpec.Source;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * One table of a workload.
 *
 * @param name shows in reports
 * @param rowCount number of rows
 * @param dimension of the rows
 * @param k neighbours that its searches want
 * @param seed of its rows and targets
 * @param made makes its rows and targets, anew at every call
 */
public record TableSpec(String name, int rowCount, int dimension, int k, long seed, Supplier<Vectors> made) {
    /** Links of an HNSW node in layer 0, of the default M. */
    private static final int LAYER_0_LINKS = 32;
    /** How many times as many rows the largest table has as the smallest. */
    private static final double SIZE_SPAN = 10;

    private static final int ROWS_PER_CENTRE = 200;
    private static final float DEVIATION = .15f;
    /** How far a target lies from the row that it was made of, as part of the deviation. */
    private static final float TARGET_OFFSET = .5f;

    /**
     * What a table holds and what it is asked.
     *
     * @param rows its rows
     * @param targets queries, the most popular first
     */
    public record Vectors(float[][] rows, float[][] targets) {}

    /** The tables of a workload of generated rows. */
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

    /** The tables of a workload of the Debian packages: the largest sections, asked what the data set's queries ask. */
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
        List<float[]> asked = about.isEmpty() ? anything : about;
        SplittableRandom random = new SplittableRandom(seed);
        float[][] drawn = new float[targets][];
        Arrays.setAll(drawn, i -> i < asked.size() ? asked.get(i) : asked.get(random.nextInt(asked.size())));
        return drawn;
    }

    /** Rows of a mixture of Gaussians in the unit cube; targets lie near rows. */
    public static Vectors mixture(int rowCount, int dimension, int targetCount, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[][] centres = new float[1 + rowCount / ROWS_PER_CENTRE][dimension];
        for (float[] centre : centres) {
            for (int i = 0; i < dimension; i++) {
                centre[i] = random.nextFloat();
            }
        }
        float[][] rows = new float[rowCount][];
        Arrays.setAll(rows, row -> near(centres[random.nextInt(centres.length)], DEVIATION, random));
        float[][] targets = new float[targetCount][];
        Arrays.setAll(targets, target -> near(rows[random.nextInt(rowCount)], DEVIATION * TARGET_OFFSET, random));
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
