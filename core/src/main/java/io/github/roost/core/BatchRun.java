package io.github.roost.core;

import io.github.roost.core.spi.Indexing;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Runs numbered pieces of work on all workers of an orchestrator, as maintenance: each piece is a step, so that searches that arrive
 * meanwhile go first. Used once.
 */
final class BatchRun {
    private final Indexing indexing;
    private final int pieces;
    private final IntConsumer piece;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger left;
    private final CompletableFuture<Void> done;

    BatchRun(Indexing indexing, int pieces, IntConsumer piece) {
        this.indexing = indexing;
        this.pieces = pieces;
        this.piece = piece;
        this.left = new AtomicInteger(pieces);
        this.done = indexing.newFuture();
    }

    void run(String name) {
        if (pieces == 0) {
            return;
        }
        try (Registration spread = indexing.registerBatchWork(name)) {
            for (int worker = 0; worker < spread.size(); worker++) {
                begin(spread.id(worker));
            }
            if (indexing.calledOnWorker()) {
                // A worker that waited here might wait for its own step.
                runRest();
            }
            Throwable failure = done.handle((none, thrown) -> thrown).join();
            if (failure != null) {
                throw asThrown(failure);
            }
        }
    }

    private void begin(MappingId id) {
        try {
            var _ = indexing.maintenance(id, context -> runNext()).exceptionally(failure -> {
                done.completeExceptionally(failure);
                return null;
            });
        } catch (OrchestratorClosedException closed) {
            done.completeExceptionally(closed);
        }
    }

    /** Returns the exception of a piece unwrapped: {@code join} would wrap it. */
    private static RuntimeException asThrown(Throwable failure) {
        return switch (failure) {
            case Error error -> throw error;
            case RuntimeException unchecked -> unchecked;
            default -> new CompletionException(failure);
        };
    }

    private void runRest() {
        boolean more = true;
        while (more) {
            more = runNext();
        }
    }

    /** Runs the next piece, if any; returns whether more pieces are left to begin. */
    private boolean runNext() {
        int number = next.getAndIncrement();
        if (number >= pieces || done.isDone()) {
            return false;
        }
        try {
            indexing.yieldToSearches();
            piece.accept(number);
        } catch (Throwable failure) {
            done.completeExceptionally(failure);
            throw failure;
        }
        if (left.decrementAndGet() == 0) {
            done.complete(null);
        }
        return next.get() < pieces;
    }
}
