package io.github.roost.index.disk;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;

class MutableDiskTableContractTest extends DiskTableContractTest {
    @Override
    TableBuild<MutableDiskTable> start(DiskTable.Builder options, Orchestrator places, long[] ids, VectorSource rows) {
        return options.start(places, io(places), "disk", newFile(), ids, rows);
    }

    @Override
    protected MutableDiskTable open(Orchestrator places, Path file) throws IOException {
        return DiskTable.open(places, io(places), "opened", file);
    }
}
