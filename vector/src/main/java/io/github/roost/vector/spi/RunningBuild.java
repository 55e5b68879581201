package io.github.roost.vector.spi;

import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A build that was started by {@link BuildWork#start}. */
record RunningBuild<T extends VectorTable>(BuildWork work, CompletableFuture<T> outcome) implements TableBuild<T> {
    static <T extends VectorTable> TableBuild<T> start(BuildWork work, Function<BuildWork, T> build) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        Thread.ofVirtual().name("roost-build").start(() -> {
            try {
                end(work, build.apply(work), outcome);
            } catch (Throwable failure) {
                outcome.completeExceptionally(failure);
            }
        });
        return new RunningBuild<>(work, outcome);
    }

    private static <T extends VectorTable> void end(BuildWork work, T table, CompletableFuture<T> outcome) {
        try {
            work.finish();
        } catch (CancellationException cancelled) {
            table.close();
            throw cancelled;
        }
        outcome.complete(table);
    }

    @Override
    public CompletableFuture<T> result() {
        return outcome.copy();
    }

    @Override
    public double progress() {
        return outcome.isDone() && !outcome.isCompletedExceptionally() ? 1 : work.progress();
    }

    @Override
    public boolean cancel() {
        return outcome.isDone() ? outcome.isCompletedExceptionally() : work.cancel();
    }
}
