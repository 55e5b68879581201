package io.github.roost.cli;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for building an IVF table. */
final class IvfBuildOptions implements IndexBuild {
    @Option(
            names = "--nlist",
            paramLabel = "N",
            description = "Number of lists, at most the number of rows; default four times its square root.")
    private @Nullable Integer requestedNlist;

    @Option(
            names = "--element",
            defaultValue = "float32",
            paramLabel = "T",
            description = "Element type stored in lists: float32 (default), float16 or int8.")
    private ElementType element = ElementType.FLOAT32;

    @Override
    public void check() {
        if (requestedNlist != null) {
            requireLists("--nlist", requestedNlist);
        }
    }

    static void requireLists(String option, int lists) {
        Options.require(option, lists, 1, MappingId.MAX_PER_ORCHESTRATOR);
    }

    /** Number of lists for a table of this many rows. */
    int nlist(int rows) {
        if (requestedNlist == null) {
            return IvfTable.Builder.defaultNlist(rows);
        }
        if (requestedNlist > rows) {
            throw new CommandFailure("--nlist must be at most the base's size of " + rows + ", got " + requestedNlist);
        }
        return requestedNlist;
    }

    /** Rejects an nprobe larger than the given number of lists. */
    void requireProbes(int nprobe) {
        if (requestedNlist != null && nprobe > requestedNlist) {
            throw new CommandFailure("--nprobe must be at most --nlist " + requestedNlist + ", got " + nprobe);
        }
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        return builder(metric, rows.size()).start(orchestrator, rows.ids(), rows.vectors());
    }

    IvfTable.Builder builder(Metric metric, int rows) {
        return IvfTable.builder().name("base").metric(metric).nlist(nlist(rows)).elementType(element);
    }
}
