package io.github.roost.rows;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Thrown if a row could not be read from its version's file: the device failed, or the file was damaged after it was loaded. The message names the
 * key, the version, the file and the fault. The failure changes nothing: the batch's other rows are read, and the row can be requested again.
 */
public final class ColdReadException extends UncheckedIOException {
    private static final long serialVersionUID = 1;

    /** The key of the row. */
    private final long key;

    /** The version that was read. */
    private final long version;

    ColdReadException(long key, long version, IOException cause) {
        super("the row of key " + key + " of version " + version + " cannot be read: " + cause.getMessage(), cause);
        this.key = key;
        this.version = version;
    }

    /** {@return the key whose row could not be read} */
    public long key() {
        return key;
    }

    /** {@return the version that was read} */
    public long version() {
        return version;
    }
}
