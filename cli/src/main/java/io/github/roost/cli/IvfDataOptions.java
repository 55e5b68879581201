package io.github.roost.cli;

import io.github.roost.core.MappingId;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.packages.DebianPackages;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The data options of the IVF benchmarks. */
final class IvfDataOptions {
    private static final int QUERIES = 1_000;
    private static final int DIMENSION = 128;

    /** The data to search. */
    enum Data {
        packages,
        mixture
    }

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description = "Debian's packages (the default), or a mixture of Gaussians.")
    private Data data = Data.packages;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 1000000.")
    private int rows = 1_000_000;

    @Option(names = "--nlist", paramLabel = "N", description = "Number of lists; default 256, for the mixture 1024.")
    private int nlist;

    /** Throws if a value is out of range. */
    void check() {
        BenchCommand.require("--rows", rows, 1_000, 10_000_000);
        BenchCommand.require("--nlist", nlist(), 1, MappingId.MAX_PER_ORCHESTRATOR);
    }

    boolean mixture() {
        return data == Data.mixture;
    }

    int nlist() {
        return nlist == 0 ? (mixture() ? 1_024 : 256) : nlist;
    }

    Workload workload() throws IOException {
        if (mixture()) {
            return Workload.mixture(rows, QUERIES, DIMENSION, 1_000, 42);
        }
        Path home = Path.of(System.getProperty("roost.home", "."));
        DebianPackages packages = DebianPackages.read(home.resolve("data/debian-packages"));
        float[][] queries = Stream.concat(packages.queries().stream(), packages.phrases().stream())
                .limit(QUERIES)
                .map(DebianPackages.Query::vector)
                .toArray(float[][]::new);
        String name = "%,d x %d Debian packages".formatted(packages.vectors().length, DebianPackages.DIMENSION);
        return new Workload(name, packages.vectors(), queries);
    }
}
