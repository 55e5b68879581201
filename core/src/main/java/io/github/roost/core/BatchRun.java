package io.github.roost.core;

import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SubmitOptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Numbered pieces of work done on all workers of an orchestrator: on each, one piece after the other, every one queued
 * anew, so that what arrived meanwhile goes first. Used once.
 */
final class BatchRun {
    private final Orchestrator orchestrator;
    private final int pieces;
    private final IntConsumer piece;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger left;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    BatchRun(Orchestrator orchestrator, int pieces, IntConsumer piece) {
        this.orchestrator = orchestrator;
        this.pieces = pieces;
        this.piece = piece;
        this.left = new AtomicInteger(pieces);
    }

    void run(String name) {
        if (pieces == 0) {
            return;
        }
        try (Registration spread = orchestrator.registerBatchWork(name)) {
            for (int worker = 0; worker < spread.clusters(); worker++) {
                queue(spread.id(worker));
            }
            if (orchestrator.calledOnWorker()) {
                // Waiting here could be waiting for oneself.
                runRest();
            }
            Throwable failure = done.handle((none, thrown) -> thrown).join();
            if (failure != null) {
                throw asThrown(failure);
            }
        }
    }

    /** What a piece threw, as it threw it: {@code join} would wrap it. */
    private static RuntimeException asThrown(Throwable failure) {
        return switch (failure) {
            case Error error -> throw error;
            case RuntimeException unchecked -> unchecked;
            default -> new CompletionException(failure);
        };
    }

    private void queue(MappingId id) {
        try {
            // Without room a piece may run within its submission: queueing the next from there would grow the stack.
            boolean ranHere = true;
            while (ranHere) {
                ranHere = submit(id).getNow(false);
            }
        } catch (IllegalArgumentException unregistered) {
            // The last piece was done meanwhile by another worker, and nobody waits any more.
            if (!done.isDone()) {
                throw unregistered;
            }
        } catch (RejectedSearchException e) {
            // No room to queue behind others: the pieces are done here and now.
            if (e.domain() < 0) {
                done.completeExceptionally(e);
            } else {
                runRest();
            }
        }
    }

    /** Queues one piece; true at once if it ran in this thread instead and there may be more. */
    private CompletableFuture<Boolean> submit(MappingId id) {
        return orchestrator
                .submit(
                        (run, context) -> {
                            boolean more = run.runNext();
                            boolean onWorker = context.worker() >= 0;
                            if (more && onWorker) {
                                run.queue(id);
                            }
                            return more && !onWorker;
                        },
                        this,
                        id,
                        SubmitOptions.BATCH)
                .exceptionally(failure -> {
                    done.completeExceptionally(failure);
                    return false;
                });
    }

    private void runRest() {
        boolean more = true;
        while (more) {
            more = runNext();
        }
    }

    /** Does one piece; false when none is left to begin. */
    private boolean runNext() {
        int number = next.getAndIncrement();
        if (number >= pieces || done.isDone()) {
            return false;
        }
        try {
            orchestrator.giveWay();
            piece.accept(number);
        } catch (Throwable failure) {
            done.completeExceptionally(failure);
            throw failure;
        }
        if (left.decrementAndGet() == 0) {
            done.complete(null);
        }
        return true;
    }
}
