package io.github.roost.vector.memory;

import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.TableFullException;
import java.util.function.LongSupplier;

/** The maximum memory of a table in bytes. Thread-safe; may be changed at any time. */
public final class MemoryLimit {
    private volatile long bytes = MemoryLimited.NO_MEMORY_LIMIT;

    /** Creates an object without a limit. */
    public MemoryLimit() {}

    /** {@return the maximum in bytes, or {@link MemoryLimited#NO_MEMORY_LIMIT}} */
    public long bytes() {
        return bytes;
    }

    /**
     * Sets the limit. Memory that the table already uses stays allocated.
     *
     * @param max the maximum in bytes, at least 1
     */
    public void set(long max) {
        bytes = require(max);
    }

    /**
     * Checks a limit.
     *
     * @param max the maximum in bytes, at least 1
     * @return {@code max}
     */
    public static long require(long max) {
        if (max < 1) {
            throw new IllegalArgumentException("the memory limit must be at least 1 byte, got " + max);
        }
        return max;
    }

    /**
     * Refuses a change if the table would use more than the limit.
     *
     * @param table the name of the table
     * @param wanted the bytes that the table would use; called only if there is a limit
     * @throws TableFullException if the table would use more than the limit
     */
    public void admit(String table, LongSupplier wanted) {
        long max = bytes;
        if (max != MemoryLimited.NO_MEMORY_LIMIT) {
            admit(table, max, wanted.getAsLong());
        }
    }

    /**
     * Refuses a change if a table would use more than a given limit.
     *
     * @param table the name of the table
     * @param max the maximum in bytes
     * @param wanted the bytes that the table would use
     * @throws TableFullException if {@code wanted} is more than {@code max}
     */
    public static void admit(String table, long max, long wanted) {
        if (wanted > max) {
            throw new TableFullException(table, max, wanted);
        }
    }
}
