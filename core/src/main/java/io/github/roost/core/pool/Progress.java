package io.github.roost.core.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a runner is doing: the slices that run nested in its thread, and whether they may block it. The fields are written with every
 * task, and lie on cache lines separate from the fields that submitters read. Written by the runner's thread alone; other threads
 * read only what is for any thread.
 */
@SuppressWarnings("unused")
final class Progress extends CacheLinePadding {
    private static final VarHandle CURRENT;
    private static final VarHandle SLICES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CURRENT = lookup.findVarHandle(Progress.class, "current", Frame.class);
            SLICES = lookup.findVarHandle(Progress.class, "slices", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The frame of the innermost slice. */
    private volatile @Nullable Frame current;
    /** Slices begun. */
    private long slices;
    /** Number of nested slices that have submitted tasks or wait; read by {@link Watch}. */
    private volatile int mayBlock;
    /** Whether the thread waits for a moment and then looks around; read by {@link Watch}. */
    private volatile boolean looksAgain;
    /** Whether only resumed and interactive tasks may be taken, since they run nested in another task. */
    private boolean onlyInteractive;
    /** When the last task ended; 0 if the worker has been idle since. */
    private long endOfLast;

    private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;

    /** The frame of the innermost slice, or null if none runs. Any thread. */
    @Nullable
    Frame current() {
        return current;
    }

    /** Publishes that a slice begins, before its task is claimed. A release only: the claim, or a fence, must follow. */
    void begins(Frame frame) {
        CURRENT.setRelease(this, frame);
        SLICES.setOpaque(this, slices + 1);
    }

    /** Publishes that the innermost slice has ended. */
    void endsTo(@Nullable Frame outer) {
        CURRENT.setRelease(this, outer);
    }

    /** Resets the state that other threads read after an error that has ended all slices. */
    void recover() {
        CURRENT.setRelease(this, null);
        onlyInteractive = false;
        mayBlock = 0;
    }

    /** The number of slices begun: if it is equal at two looks, the same slice still runs. Any thread. */
    long slices() {
        return (long) SLICES.getOpaque(this);
    }

    /** Whether a running slice, or one that it is nested in, has submitted tasks or waits. Any thread. */
    boolean mayBlock() {
        return mayBlock > 0;
    }

    /** Counts a slice that has submitted tasks or waits, by 1, or out again, by -1. */
    void countMayBlock(int by) {
        int before = mayBlock;
        mayBlock = before + by;
    }

    /** Whether the thread waits for a moment, and will then poll its sources and the deadlines of parked tasks. Any thread. */
    boolean looksAgain() {
        return looksAgain;
    }

    void looksAgain(boolean soon) {
        looksAgain = soon;
    }

    boolean onlyInteractive() {
        return onlyInteractive;
    }

    void onlyInteractive(boolean only) {
        onlyInteractive = only;
    }

    long endOfLast() {
        return endOfLast;
    }

    void endOfLast(long nanos) {
        endOfLast = nanos;
    }
}
