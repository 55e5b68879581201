package io.github.roost.bench;

import java.util.concurrent.CompletionException;

/** A search of a measured run failed, so the run measures nothing. The cause is the search's. */
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
