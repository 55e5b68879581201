package io.github.roost.core.pool;

import io.github.roost.core.spi.Pending;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;

/** An in-memory source of completions, with a thread of its own in the place of a disk. */
final class Completions implements AutoCloseable {
    /** When and how something completes. */
    enum Kind {
        /** Before whoever asked has it. */
        AT_ONCE,
        /** A moment later. */
        SOON,
        /** When {@link #completeLate} is called. */
        LATE,
        /** Never. */
        NEVER,
        /** A moment later, and then once more, with an error. */
        TWICE,
        /** A moment later, with an error. */
        WITH_AN_ERROR
    }

    /** What a completion with an error carries. */
    static final class DiskFailure extends Exception {
        private static final long serialVersionUID = 1;
    }

    private final BlockingQueue<Runnable> due = new LinkedBlockingQueue<>();
    private final List<Pending> late = new CopyOnWriteArrayList<>();
    private final List<Pending> never = new CopyOnWriteArrayList<>();
    private final Thread thread;

    /** @param seed of how long it takes before it completes something */
    Completions(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        thread = Thread.ofPlatform().daemon().name("completions").start(() -> {
            try {
                while (true) {
                    Runnable next = due.take();
                    for (int spins = random.nextInt(2_000); spins > 0; spins--) {
                        Thread.onSpinWait();
                    }
                    next.run();
                }
            } catch (InterruptedException e) {
                // Closed.
            }
        });
    }

    /** Asks for something; any thread. */
    Pending ask(Kind kind) {
        Pending pending = new Pending();
        switch (kind) {
            case AT_ONCE -> pending.complete();
            case SOON -> due.add(pending::complete);
            case LATE -> late.add(pending);
            case NEVER -> never.add(pending);
            case TWICE ->
                due.add(() -> {
                    pending.complete();
                    pending.completeExceptionally(new DiskFailure());
                });
            case WITH_AN_ERROR -> due.add(() -> pending.completeExceptionally(new DiskFailure()));
        }
        return pending;
    }

    /** How many were asked for that complete late. */
    int late() {
        return late.size();
    }

    /** Completes all that were asked for to be completed late. */
    void completeLate() {
        for (Pending pending : late) {
            due.add(pending::complete);
        }
    }

    /** Those that never complete. */
    List<Pending> never() {
        return never;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
