package io.github.roost.index.remote;

import io.github.roost.core.Vectors;

/**
 * How long one-sided transfers take on a network card that is not there: a stated model, never a measurement. Requests of one doorbell
 * follow each other on the link; the round trip is paid once. Immutable; a pure function of its arguments.
 *
 * @param roundTripNanos from the doorbell to the first byte, in nanoseconds
 * @param doorbellNanos to ring, in nanoseconds
 * @param requestNanos per piece, in nanoseconds
 * @param bytesPerSecond of the link
 */
public record NetworkModel(long roundTripNanos, long doorbellNanos, long requestNanos, double bytesPerSecond) {
    /** 100 Gb/s with 2 us of round trip, 0.4 us per doorbell, 0.1 us per piece. */
    public static final NetworkModel GIGABIT_100 = new NetworkModel(2_000, 400, 100, 12.5e9);

    /** Checks the figures. */
    public NetworkModel {
        Vectors.requireRange("round trip", roundTripNanos, 0, 1_000_000_000);
        Vectors.requireRange("doorbell", doorbellNanos, 0, 1_000_000_000);
        Vectors.requireRange("request", requestNanos, 0, 1_000_000_000);
        if (!(bytesPerSecond > 0)) {
            throw new IllegalArgumentException("bytes per second must be over 0, got " + bytesPerSecond);
        }
    }

    /**
     * How long one doorbell occupies the link: the next one's bytes can follow after that.
     *
     * @param pieces that it asks for, at least 1
     * @param bytes of all pieces
     * @return nanoseconds
     */
    public long occupied(int pieces, long bytes) {
        return doorbellNanos + pieces * requestNanos + Math.round(bytes / bytesPerSecond * 1e9);
    }

    /**
     * How long one doorbell takes alone, from ringing to the last byte.
     *
     * @param pieces that it asks for, at least 1
     * @param bytes of all pieces
     * @return nanoseconds
     */
    public long alone(int pieces, long bytes) {
        return roundTripNanos + occupied(pieces, bytes);
    }
}
