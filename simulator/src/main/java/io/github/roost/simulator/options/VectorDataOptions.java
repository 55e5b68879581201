package io.github.roost.simulator.options;

import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.packages.DebianPackages;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of benchmarks of vector formats that choose the data: the Debian packages or a mixture of Gaussians. */
public final class VectorDataOptions {
    private static final int MIXTURE_ROWS = 100_000;
    private static final int ROWS_PER_CENTER = 50;

    private final @Mixin DataOption data;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Number of vectors; default 100,000 of the mixture, or all packages.")
    private @Nullable Integer rows;

    private final @Mixin NumberOption dimension = NumberOption.dimension(128, 2, 4_096);

    /** Creates the options with the data set that is searched if none is named. */
    public VectorDataOptions(DataOption.Data data) {
        this.data = new DataOption(data);
    }

    /**
     * The vectors to index, and queries of the same distribution.
     *
     * @param name {@code packages} or {@code mixture}
     */
    public record Vectors(String name, float[][] rows, float[][] queries) {}

    /** Throws if a value is out of range. */
    public void check() {
        if (rows != null) {
            Options.require("--rows", rows, 1_000, 10_000_000);
        }
        NumberOption.check(dimension);
    }

    /** Draws or reads the vectors, with at most the given number of queries. */
    public Vectors read(int queries) throws IOException {
        if (data.isMixture()) {
            int count = rows == null ? MIXTURE_ROWS : rows;
            SplittableRandom random = new SplittableRandom(1);
            Mixture mixture = Mixture.of(Math.max(1, count / ROWS_PER_CENTER), dimension.value(), random);
            return new Vectors(data.name(), mixture.draw(count, random), mixture.draw(queries, random));
        }
        DebianPackages packages = DebianPackages.read(RoostHome.packages());
        int all = packages.vectors().length;
        if (rows != null) {
            Options.require("--rows", rows, 1_000, all);
        }
        return new Vectors(
                data.name(),
                Arrays.copyOf(packages.vectors(), rows == null ? all : rows),
                packages.queries().stream()
                        .limit(queries)
                        .map(DebianPackages.Query::vector)
                        .toArray(float[][]::new));
    }
}
