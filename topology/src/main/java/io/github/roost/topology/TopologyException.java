package io.github.roost.topology;

/** Thrown if a topology cannot be read; the message is one line that names the value. */
public final class TopologyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message the problem: the value and the expectation
     */
    public TopologyException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message the problem: the value and the expectation
     * @param cause what failed
     */
    public TopologyException(String message, Throwable cause) {
        super(message, cause);
    }
}
