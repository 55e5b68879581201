package io.github.roost.index.hnsw;

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

class HnswTableContractTest extends MemoryTableContract<HnswTable> {
    @Override
    protected TableBuild<HnswTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return HnswTable.builder().metric(metric).start(places, ids, rows);
    }

    @Override
    protected TableBuild<HnswTable> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return HnswTable.builder().m(4).efConstruction(4).start(places, ids, rows);
    }

    @Override
    protected TableBuild<HnswTable> startLimited(Orchestrator places, long[] ids, VectorSource rows, long limit) {
        return HnswTable.builder().memoryLimit(limit).start(places, ids, rows);
    }

    @Override
    protected HnswTable build(Orchestrator places, Metric metric) {
        return HnswTable.builder().metric(metric).build(places, VECTORS);
    }

    @Override
    protected HnswTable open(Orchestrator places, Path file) throws IOException {
        return HnswTable.open(places, "opened", file);
    }

    @Override
    protected SearchFunction<float[], SearchResult> searchInTheCaller(HnswTable table, int k, int effort) {
        return table.searchFunction(k, effort);
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void nullTablesAndArraysAreRefusedByName() {
        try (HnswTable table = build(orchestrator, Metric.SQUARED_L2)) {
            refusedNull("next", () -> table.swap(null));
            refusedNull("vectors", () -> HnswTable.builder().build(orchestrator, (float[][]) null));
        }
    }
}
