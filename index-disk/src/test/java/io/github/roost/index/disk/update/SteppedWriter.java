package io.github.roost.index.disk.update;

import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.NodesById;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockIo;
import java.util.concurrent.CompletableFuture;

/** Writers whose steps their owner runs itself, and whose updates do not fail. */
final class SteppedWriter implements DiskWriter.Owner {
    private SteppedWriter() {}

    static DiskWriter of(DiskGraph graph, BlockIo io) {
        return of(graph, NodesById.of(graph.codes()), io);
    }

    static DiskWriter of(DiskGraph graph, NodesById rows, BlockIo io) {
        return new DiskWriter(graph, rows, io, new SearchCounts(), new SteppedWriter());
    }

    /** Queues the beginning of a checkpoint. */
    static CompletableFuture<Checkpoint> cut(DiskWriter writer, DiskGraph graph) {
        CompletableFuture<Checkpoint> taken = new CompletableFuture<>();
        writer.add(new DiskWriter.Work.Run(
                () -> {
                    Checkpoint begun = new Checkpoint(graph.root(), graph, writer.takeChangedRows(), false, false);
                    writer.capture(begun);
                    taken.complete(begun);
                },
                true,
                taken::completeExceptionally));
        return taken;
    }

    @Override
    public void submit() {}

    @Override
    public void changed() {}

    @Override
    public boolean isFull() {
        return false;
    }

    @Override
    public void failed(Throwable failure) {
        throw new AssertionError(failure);
    }
}
