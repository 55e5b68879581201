package io.github.roost.topology;

/** Thrown if a topology cannot be read; the message is one line that names the value. */
public final class TopologyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TopologyException(String message) {
        super(message);
    }

    public TopologyException(String message, Throwable cause) {
        super(message, cause);
    }
}
