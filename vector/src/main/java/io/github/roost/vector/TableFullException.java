package io.github.roost.vector;

import org.jspecify.annotations.Nullable;

/** Thrown when a table has no room for rows or a build, for example at its memory limit. The table is unchanged; searches go on. */
public final class TableFullException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * For a table that would exceed its memory limit.
     *
     * @param table name of the table
     * @param limit maximum size in bytes
     * @param wanted size in bytes after the refused change
     */
    public TableFullException(String table, long limit, long wanted) {
        super("table %s is full: its memory limit is %,d bytes, it would take %,d".formatted(table, limit, wanted));
    }

    /**
     * For a change that exceeds a limit other than memory.
     *
     * @param table name of the table
     * @param why the end of the message, after "table NAME is full: ": the limit, and what can be done
     * @param cause the error that reported the limit, or null
     */
    public TableFullException(String table, String why, @Nullable Throwable cause) {
        super("table %s is full: %s".formatted(table, why), cause);
    }
}
