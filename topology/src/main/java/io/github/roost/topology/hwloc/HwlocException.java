package io.github.roost.topology.hwloc;

/** hwloc refused what it was given; the message says what, and stands after the name of the value. */
public final class HwlocException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HwlocException(String message) {
        super(message);
    }
}
