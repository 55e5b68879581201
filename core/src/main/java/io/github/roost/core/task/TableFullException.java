package io.github.roost.core.task;

/** A table has no room for what was to be added or built, as by its memory limit; nothing has changed, and searches go on. */
public final class TableFullException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * Refuses rows.
     *
     * @param table its name
     * @param limit bytes that it may take
     * @param wanted bytes that it would take
     */
    public TableFullException(String table, long limit, long wanted) {
        super("table %s is full: its memory limit is %,d bytes, it would take %,d".formatted(table, limit, wanted));
    }

    /**
     * Refuses a change that something else than memory has no room for.
     *
     * @param table its name
     * @param why continues a sentence that begins with the table's name: what is full, and what can be done
     * @param cause what the table found full
     */
    public TableFullException(String table, String why, Throwable cause) {
        super("table %s is full: %s".formatted(table, why), cause);
    }
}
