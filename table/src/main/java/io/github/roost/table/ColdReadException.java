package io.github.roost.table;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A row could not be read from the file of its version: the device has failed, or the file is damaged since it was loaded. The message names the key,
 * the version, the file and the fault. Nothing has changed: other rows of the batch are read, and this one can be asked for again.
 */
public final class ColdReadException extends UncheckedIOException {
    private static final long serialVersionUID = 1;

    /** Whose row it is. */
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
