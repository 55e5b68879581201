package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for building an HNSW table. */
final class HnswBuildOptions implements IndexBuild {
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
                    "Element type read by searches: float32, or int8 with floats for the best; default the faster in a"
                            + " sample.")
    private @Nullable ElementType element;

    @Override
    public void check() {
        Options.require("--m", m, 2, 256);
        Options.require("--ef-construction", efConstruction, 1, 10_000);
        if (element == ElementType.FLOAT16) {
            throw new CommandFailure("--element must be float32 or int8 for hnsw, got float16");
        }
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        HnswTable.Builder builder =
                HnswTable.builder().name("base").metric(metric).m(m).efConstruction(efConstruction);
        return (element == null ? builder : builder.elementType(element))
                .start(orchestrator, rows.ids(), rows.vectors());
    }
}
