package io.github.roost.core.task;

/** The table is closed: a search or change of it was refused. */
public final class TableClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * Refuses what is asked of a closed table.
     *
     * @param table its name
     */
    public TableClosedException(String table) {
        super("table " + table + " is closed");
    }
}
