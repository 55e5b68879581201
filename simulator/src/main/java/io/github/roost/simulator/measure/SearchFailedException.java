package io.github.roost.simulator.measure;

import java.util.concurrent.CompletionException;

/**
 * Thrown if a search of a measured run fails, so that the run is no measurement. Its cause is the search's exception.
 */
public final class SearchFailedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public SearchFailedException(Throwable thrown) {
        super("a search failed: " + cause(thrown), cause(thrown));
    }

    private static Throwable cause(Throwable thrown) {
        Throwable cause = thrown.getCause();
        return thrown instanceof CompletionException && cause != null ? cause : thrown;
    }
}
