package io.github.roost.bench.remote;

import io.github.roost.vector.Vectors;

/**
 * A cost model of one-sided transfers over a network card: an assumption, not a measurement. Requests of one doorbell follow each other on the
 * link; the round trip is paid once per doorbell. Immutable.
 *
 * @param roundTripNanos time from the doorbell to the first byte, in nanoseconds
 * @param doorbellNanos cost per doorbell, in nanoseconds
 * @param requestNanos cost per piece, in nanoseconds
 * @param bytesPerSecond bandwidth of the link
 */
public record NetworkModel(long roundTripNanos, long doorbellNanos, long requestNanos, double bytesPerSecond) {
    /** 100 Gb/s, round trip of 2 us, 0.4 us per doorbell, 0.1 us per piece. */
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
     * The time that one doorbell occupies the link; the next doorbell's bytes can follow after it.
     *
     * @param pieces number of pieces, at least 1
     * @param bytes of all pieces
     * @return nanoseconds
     */
    public long occupied(int pieces, long bytes) {
        return doorbellNanos + pieces * requestNanos + Math.round(bytes / bytesPerSecond * 1e9);
    }

    /**
     * The latency of one doorbell on an idle link, from ringing to the last byte.
     *
     * @param pieces number of pieces, at least 1
     * @param bytes of all pieces
     * @return nanoseconds
     */
    public long alone(int pieces, long bytes) {
        return roundTripNanos + occupied(pieces, bytes);
    }
}
