package io.github.roost.topology.hwloc;

/** Thrown if hwloc rejects its input. The message says why, in words that follow the name of the input. */
public final class HwlocException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HwlocException(String message) {
        super(message);
    }
}
