package io.github.roost.table;

/** A version of a {@link Table} that was asked for is not live: not loaded yet, or retired. The message names those that are. */
public final class VersionGoneException extends RuntimeException {
    private static final long serialVersionUID = 1;

    VersionGoneException(String message) {
        super(message);
    }
}
