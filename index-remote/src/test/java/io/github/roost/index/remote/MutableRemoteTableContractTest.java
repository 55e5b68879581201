package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.VectorTableContract;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class MutableRemoteTableContractTest extends VectorTableContract<MutableRemoteTable> {
    private int pools;

    @Override
    protected TableBuild<MutableRemoteTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return RemoteTableContractTest.start(PartitionedIndex.builder().metric(metric), places, ids, rows, newPool());
    }

    @Override
    protected TableBuild<MutableRemoteTable> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return RemoteTableContractTest.start(
                PartitionedIndex.builder().m(4).efConstruction(4), places, ids, rows, newPool());
    }

    /** A pool is not replaced while a table has it open. */
    private Path newPool() {
        return folder.resolve("pool" + pools++);
    }

    @Override
    protected MutableRemoteTable open(Orchestrator places, Path file) throws IOException {
        return RemoteTable.builder()
                .open(
                        places,
                        "opened",
                        RemoteMemory.mapped(Objects.requireNonNull(file.getParent())),
                        file.getFileName().toString());
    }

    @Override
    protected void reorganize(MutableRemoteTable table) {
        table.rebuild(0);
    }

    /** None: its rows are not fetched yet. */
    @Override
    protected long minBytesWhenOpened() {
        return 0;
    }

    @Test
    void noTableIsSavedOverAPoolInUse() throws IOException {
        Path file = folder.resolve("own");
        try (MutableRemoteTable table = build(orchestrator, Metric.SQUARED_L2)) {
            table.save(file);
        }
        try (MutableRemoteTable table = open(orchestrator, file);
                MutableRemoteTable other = build(orchestrator, Metric.SQUARED_L2)) {
            for (MutableRemoteTable saved : List.of(table, other)) {
                assertThatThrownBy(() -> saved.save(file))
                        .isInstanceOf(IOException.class)
                        .hasMessage(file + " is in use by an open table or a save, so it cannot be replaced");
            }
            assertThat(table.remove(17)).isTrue();
        }
        try (MutableRemoteTable table = open(orchestrator, file)) {
            assertThat(table.size()).isEqualTo(ROWS - 1);
        }
    }

    @Test
    void aFullLogIsAFullTable() {
        TableBuild<MutableRemoteTable> build = PartitionedIndex.builder()
                .partitions(PARTS)
                .gap(0)
                .start(
                        orchestrator,
                        "remote",
                        ids(),
                        VectorSource.of(VECTORS),
                        folder.resolve("small-logs"),
                        RemoteTable.builder().rebuildsFullLogs(false));
        try (MutableRemoteTable table = build.join()) {
            assertThatThrownBy(() -> {
                        for (int change = 0; change < 100_000; change++) {
                            table.put(17, VECTORS[17]);
                        }
                    })
                    .isInstanceOf(TableFullException.class)
                    .hasMessageContaining("remote is full");
            assertThat(table.search(VECTORS[17], 1, PARTS).join().ids()).containsExactly(17);
        }
    }
}
