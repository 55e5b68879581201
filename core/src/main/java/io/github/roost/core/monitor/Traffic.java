package io.github.roost.core.monitor;

import java.util.Arrays;

/**
 * The traffic of each slot. The arrays are not copied.
 *
 * @param bytes bytes touched per slot
 * @param searches searches that touched them per slot, same length
 */
public record Traffic(long[] bytes, long[] searches) {
    /** Checks that both arrays have the same length. */
    public Traffic {
        if (bytes.length != searches.length) {
            throw new IllegalArgumentException(
                    "bytes and searches must have one length, got " + bytes.length + " and " + searches.length);
        }
    }

    /**
     * Returns zero traffic.
     *
     * @param slots number of slots
     * @return zero traffic of all slots
     */
    public static Traffic none(int slots) {
        return new Traffic(new long[slots], new long[slots]);
    }

    /** {@return the number of slots} */
    public int slots() {
        return bytes.length;
    }

    /** {@return the bytes over all slots} */
    public long totalBytes() {
        return Arrays.stream(bytes).sum();
    }

    /**
     * Returns this total minus an earlier one, which may have fewer slots; never below zero.
     *
     * @param earlier the total at an earlier time
     * @return the traffic in between
     */
    public Traffic since(Traffic earlier) {
        return combine(earlier, -1);
    }

    /**
     * Returns the sum of both, with the larger number of slots.
     *
     * @param other the traffic to add
     * @return a new record
     */
    public Traffic plus(Traffic other) {
        return slots() >= other.slots() ? combine(other, 1) : other.combine(this, 1);
    }

    private Traffic combine(Traffic shorter, int sign) {
        long[] sumBytes = bytes.clone();
        long[] sumSearches = searches.clone();
        for (int slot = 0; slot < Math.min(slots(), shorter.slots()); slot++) {
            sumBytes[slot] = Math.max(0, sumBytes[slot] + sign * shorter.bytes[slot]);
            sumSearches[slot] = Math.max(0, sumSearches[slot] + sign * shorter.searches[slot]);
        }
        return new Traffic(sumBytes, sumSearches);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Traffic that
                && Arrays.equals(bytes, that.bytes)
                && Arrays.equals(searches, that.searches);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + Arrays.hashCode(searches);
    }

    @Override
    public String toString() {
        return "Traffic[slots=" + slots() + ", bytes=" + totalBytes() + "]";
    }
}
