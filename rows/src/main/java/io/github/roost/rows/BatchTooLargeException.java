package io.github.roost.rows;

/** Thrown if the rows of a batch would take more memory than its limit. The message names both sizes; the batch is unchanged. */
public final class BatchTooLargeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    BatchTooLargeException(long bytes, long maxBytes) {
        super("the rows of a batch must have " + maxBytes + " bytes at most, got " + bytes);
    }
}
