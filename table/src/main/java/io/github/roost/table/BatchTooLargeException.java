package io.github.roost.table;

/** The rows of a batch would take more memory than they may. The message names both; the batch is as it was. */
public final class BatchTooLargeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    BatchTooLargeException(long bytes, long mostBytes) {
        super("the rows of a batch must have " + mostBytes + " bytes at most, got " + bytes);
    }
}
