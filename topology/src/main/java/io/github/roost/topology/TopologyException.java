package io.github.roost.topology;

/** Thrown if a topology cannot be read; the message is one line that names the value. */
public final class TopologyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TopologyException(String message) {
        super(message);
    }

    TopologyException(String message, Throwable cause) {
        super(message, cause);
    }
}
