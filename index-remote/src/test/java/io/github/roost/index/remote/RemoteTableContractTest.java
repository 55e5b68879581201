package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.VectorTableContract;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

class RemoteTableContractTest extends VectorTableContract<RemoteTable> {
    private int pools;

    /** Begins to build a pool of the contract's number of partitions. */
    static TableBuild<MutableRemoteTable> start(
            PartitionedIndex options, Orchestrator places, long[] ids, VectorSource rows, Path pool) {
        return options.partitions(PARTS).start(places, "remote", ids, rows, pool, RemoteTable.builder());
    }

    /** Builds a pool, and opens it again for searches alone. */
    private TableBuild<RemoteTable> startReadOnly(
            PartitionedIndex options, Orchestrator places, long[] ids, VectorSource rows) {
        Path pool = folder.resolve("pool-" + pools++);
        TableBuild<MutableRemoteTable> build = start(options, places, ids, rows, pool);
        CompletableFuture<RemoteTable> reopened = build.result().thenApply(table -> {
            table.close();
            try {
                return openReadOnly(places, "remote", pool);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
        return new TableBuild<>() {
            @Override
            public CompletableFuture<RemoteTable> result() {
                return reopened;
            }

            @Override
            public double progress() {
                return build.progress();
            }

            @Override
            public boolean cancel() {
                return build.cancel();
            }
        };
    }

    private static RemoteTable openReadOnly(Orchestrator places, String name, Path pool) throws IOException {
        return RemoteTable.builder()
                .openReadOnly(
                        places,
                        name,
                        RemoteMemory.mapped(Objects.requireNonNull(pool.getParent())),
                        pool.getFileName().toString());
    }

    @Override
    protected TableBuild<RemoteTable> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows) {
        return startReadOnly(PartitionedIndex.builder().metric(metric), places, ids, rows);
    }

    @Override
    protected TableBuild<RemoteTable> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return startReadOnly(PartitionedIndex.builder().m(4).efConstruction(4), places, ids, rows);
    }

    @Override
    protected RemoteTable open(Orchestrator places, Path file) throws IOException {
        return openReadOnly(places, "opened", file);
    }

    /** None: its rows are not fetched yet. */
    @Override
    protected long minBytesWhenOpened() {
        return 0;
    }
}
