package io.github.roost.rows;

/** Thrown if a requested version of a {@link VersionedRows} is not live: not loaded yet, or unloaded. The message names the live versions, or the version. */
public final class VersionGoneException extends RuntimeException {
    private static final long serialVersionUID = 1;

    VersionGoneException(String message) {
        super(message);
    }
}
