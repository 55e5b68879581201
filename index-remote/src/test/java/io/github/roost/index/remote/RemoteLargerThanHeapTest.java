package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.LargerThanHeapContract;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.nio.file.Path;

class RemoteLargerThanHeapTest extends LargerThanHeapContract {
    @Override
    protected TableBuild<MutableRemoteTable> start(
            Orchestrator orchestrator, Path folder, long[] ids, VectorSource rows) {
        return PartitionedIndex.builder()
                .partitions(PARTS)
                .start(orchestrator, "remote", ids, rows, folder.resolve("pool"), RemoteTable.builder());
    }
}
