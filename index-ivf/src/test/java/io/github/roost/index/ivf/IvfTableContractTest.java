package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.testkit.MemoryTableContract;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class IvfTableContractTest extends MemoryTableContract<IvfTable> {
    private static IvfTable.Builder builder() {
        return IvfTable.builder().nlist(PARTS);
    }

    @Override
    protected TableBuild<IvfTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return builder().metric(metric).start(places, ids, rows);
    }

    @Override
    protected TableBuild<IvfTable> startLimited(Orchestrator places, long[] ids, VectorSource rows, long limit) {
        return builder().memoryLimit(limit).start(places, ids, rows);
    }

    @Override
    protected IvfTable build(Orchestrator places, Metric metric) {
        return builder().metric(metric).build(places, VECTORS);
    }

    @Override
    protected IvfTable open(Orchestrator places, Path file) throws IOException {
        return IvfTable.open(places, "opened", file);
    }

    @Override
    protected void reorganize(IvfTable table) {
        var _ = table.rebuild();
    }

    @Override
    protected SearchFunction<float[], SearchResult> searchInTheCaller(IvfTable table, int k, int effort) {
        return table.searchFunction(k, effort);
    }

    @Test
    void theListsScannedAreTheNodesExpanded() {
        try (IvfTable table = build(orchestrator, Metric.SQUARED_L2)) {
            assertThat(table.search(VECTORS[0], K, PARTS).join().cost().expanded())
                    .isBetween((long) PARTS, (long) ROWS);
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void nullArraysAreRefusedByName() {
        refusedNull("vectors", () -> IvfTable.builder().build(orchestrator, (float[][]) null));
    }
}
