package io.github.roost.topology;

/** A machine could not be read from the source that was named. */
public final class TopologyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TopologyException(String message) {
        super(message);
    }
}
