package io.github.roost.affinity;

/** Thrown if cores cannot be reserved; the message is one line with the number of cores that are free, or the file that is refused. */
public final class ReservationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ReservationException(String message) {
        super(message);
    }

    ReservationException(String message, Throwable cause) {
        super(message, cause);
    }
}
