package io.github.roost.cli;

import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for building an HNSW table. */
final class HnswBuildOptions {
    @Option(
            names = "--m",
            defaultValue = "16",
            paramLabel = "M",
            description = "Links per node in the upper layers; default ${DEFAULT-VALUE}.")
    private int m;

    @Option(
            names = "--ef-construction",
            defaultValue = "200",
            paramLabel = "N",
            description = "Candidates compared per inserted vector; default ${DEFAULT-VALUE}.")
    private int efConstruction;

    @Option(
            names = "--element",
            paramLabel = "T",
            description =
                    "Element type read by searches: float32, or int8 with floats for the best; default the faster in a sample.")
    private @Nullable ElementType element;

    void check() {
        SearchOptions.requireBetween("--m", m, 2, 256);
        SearchOptions.requireBetween("--ef-construction", efConstruction, 1, 10_000);
        if (element == ElementType.FLOAT16) {
            throw new CommandFailure("--element must be float32 or int8 for hnsw, got float16");
        }
    }

    HnswTable.Builder builder(String name, Metric metric) {
        HnswTable.Builder builder =
                HnswTable.builder().name(name).metric(metric).m(m).efConstruction(efConstruction);
        return element == null ? builder : builder.elementType(element);
    }
}
