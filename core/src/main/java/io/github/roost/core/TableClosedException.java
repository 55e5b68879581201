package io.github.roost.core;

/** Thrown when a search or change is refused because the table is closed. */
public final class TableClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * For an operation on a closed table.
     *
     * @param table name of the table
     */
    public TableClosedException(String table) {
        super("table " + table + " is closed");
    }
}
