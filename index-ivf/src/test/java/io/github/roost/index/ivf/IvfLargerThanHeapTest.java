package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.LargerThanHeapContract;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.nio.file.Path;

class IvfLargerThanHeapTest extends LargerThanHeapContract {
    @Override
    protected TableBuild<IvfTable> start(Orchestrator orchestrator, Path folder, long[] ids, VectorSource rows) {
        return IvfTable.builder().nlist(PARTS).start(orchestrator, ids, rows);
    }
}
