package io.github.roost.core.vector;

import io.github.roost.core.task.TableFullException;
import java.util.function.LongSupplier;

/** The most bytes that a table may take, for authors of indexes. Thread-safe: it may change at any time. */
public final class MemoryLimit {
    /** No limit. */
    public static final long NONE = Long.MAX_VALUE;

    private volatile long bytes = NONE;

    /** There is no limit yet. */
    public MemoryLimit() {}

    /** {@return the most bytes, or {@link #NONE}} */
    public long bytes() {
        return bytes;
    }

    /**
     * Sets the limit. What the table takes already stays.
     *
     * @param most at least 1
     */
    public void set(long most) {
        bytes = require(most);
    }

    /**
     * Checks a limit.
     *
     * @param most at least 1
     * @return the same
     */
    public static long require(long most) {
        if (most < 1) {
            throw new IllegalArgumentException("the memory limit must be at least 1 byte, got " + most);
        }
        return most;
    }

    /**
     * Refuses what would take more.
     *
     * @param table its name
     * @param wanted what the table would take; asked only where there is a limit
     * @throws TableFullException if that is more than the limit
     */
    public void admit(String table, LongSupplier wanted) {
        long most = bytes;
        if (most != NONE) {
            admit(table, most, wanted.getAsLong());
        }
    }

    /**
     * Refuses a table that would take more than a limit.
     *
     * @param table its name
     * @param most bytes
     * @param wanted bytes
     * @throws TableFullException if {@code wanted} is more
     */
    public static void admit(String table, long most, long wanted) {
        if (wanted > most) {
            throw new TableFullException(table, most, wanted);
        }
    }
}
