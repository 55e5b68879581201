package io.github.roost.index.hnsw;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.LargerThanHeapContract;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.nio.file.Path;

class HnswLargerThanHeapTest extends LargerThanHeapContract {
    @Override
    protected TableBuild<HnswTable> start(Orchestrator orchestrator, Path folder, long[] ids, VectorSource rows) {
        return HnswTable.builder().m(8).efConstruction(20).start(orchestrator, ids, rows);
    }
}
