package io.github.roost.topology.hwloc;

/** A native library cannot be used in this process: it is missing, of another version, or native access is denied. */
public final class NativeUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NativeUnavailableException(String message) {
        super(message);
    }

    NativeUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
