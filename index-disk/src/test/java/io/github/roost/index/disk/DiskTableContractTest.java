package io.github.roost.index.disk;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.VectorTableContract;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;

class DiskTableContractTest extends VectorTableContract<DiskTable> {
    /** Of the orchestrators that a test uses. */
    private final Map<Orchestrator, BlockIo> ios = new HashMap<>();

    private int files;

    /** The block I/O of an orchestrator; of the test's own, if there is none. */
    BlockIo io(Orchestrator places) {
        return ios.computeIfAbsent(
                places == null ? orchestrator : places,
                its -> BlockIo.builder(its).build());
    }

    Path newFile() {
        return folder.resolve("disk-" + files++);
    }

    /** Begins to build a table by the builder's options. */
    TableBuild<? extends DiskTable> start(
            DiskTable.Builder options, Orchestrator places, long[] ids, VectorSource rows) {
        return options.startReadOnly(places, io(places), "disk", newFile(), ids, rows);
    }

    @Override
    protected TableBuild<? extends DiskTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return start(DiskTable.builder().metric(metric), places, ids, rows);
    }

    @Override
    protected TableBuild<? extends DiskTable> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return start(DiskTable.builder().degree(4).buildWidth(4), places, ids, rows);
    }

    @Override
    protected DiskTable open(Orchestrator places, Path file) throws IOException {
        return DiskTable.openReadOnly(places, io(places), "opened", file);
    }

    @Override
    protected int rowsOfALargeTable() {
        return 10_000;
    }

    /** A narrow search depends on the order in which its reads end. */
    @Override
    protected int sameTwice(DiskTable table, int k) {
        return exactEffort(table);
    }

    /** One has less than a megabyte of codes. */
    @Override
    protected int copiesOfALargeTable() {
        return 40;
    }

    /** Codes and ids: the rows are in the file. */
    @Override
    protected long bytesOfSomeThousandRows() {
        return 100_000;
    }

    @Override
    @AfterEach
    protected void close() {
        super.close();
        ios.values().forEach(BlockIo::close);
    }
}
