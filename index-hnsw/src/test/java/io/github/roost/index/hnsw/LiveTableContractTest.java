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

class LiveTableContractTest extends MemoryTableContract<LiveTable> {
    @Override
    protected TableBuild<LiveTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return LiveTable.builder().metric(metric).start(places, ids, rows);
    }

    @Override
    protected TableBuild<LiveTable> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return LiveTable.builder().m(4).efConstruction(4).start(places, ids, rows);
    }

    @Override
    protected TableBuild<LiveTable> startLimited(Orchestrator places, long[] ids, VectorSource rows, long limit) {
        return LiveTable.builder().memoryLimit(limit).start(places, ids, rows);
    }

    @Override
    protected LiveTable build(Orchestrator places, Metric metric) {
        return LiveTable.builder().metric(metric).build(places, ids(), VECTORS);
    }

    @Override
    protected LiveTable open(Orchestrator places, Path file) throws IOException {
        return LiveTable.open(places, "opened", file);
    }

    @Override
    protected void reorganize(LiveTable table) {
        table.merge();
    }

    @Override
    protected SearchFunction<float[], SearchResult> searchInTheCaller(LiveTable table, int k, int effort) {
        return table.searchFunction(k, effort);
    }
}
