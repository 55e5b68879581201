package io.github.roost.bench.sim;

/**
 * A link or memory that moves so many bytes a nanosecond. Time is cut into short slots of fixed capacity; a transfer
 * takes the first slots from its time on that have room, and waits for them. Requests may so come a little out of order,
 * as they do when cores are simulated a few nodes at a time, without one waiting for another that in truth came later.
 * Not thread-safe.
 */
final class Bandwidth {
    private static final long SLOT_NANOS = 256;
    private static final int SLOTS = 1 << 14;

    private final double bytesPerSlot;
    private final double[] used = new double[SLOTS];
    /** Which slot of time an entry of {@link #used} counts. */
    private final long[] slotOf = new long[SLOTS];
    /** Slots known to be full: from this one to the one below, exclusive. */
    private long fullFrom;

    private long fullTo;

    Bandwidth(double bytesPerNano) {
        this.bytesPerSlot = bytesPerNano * SLOT_NANOS;
    }

    /** Takes room for a transfer asked for at a time; how many nanoseconds it waits for it. */
    double delay(double now, double bytes) {
        long asked = (long) now / SLOT_NANOS;
        boolean knownFull = asked >= fullFrom && asked < fullTo;
        long slot = knownFull ? fullTo : asked;
        for (double left = bytes; ; slot++) {
            int at = (int) (slot & (SLOTS - 1));
            if (slotOf[at] != slot) {
                slotOf[at] = slot;
                used[at] = 0;
            }
            double room = bytesPerSlot - used[at];
            if (left <= room) {
                used[at] += left;
                break;
            }
            used[at] = bytesPerSlot;
            left -= room;
        }
        if (!knownFull) {
            fullFrom = asked;
        }
        fullTo = slot;
        return Math.max(0, slot * SLOT_NANOS - now);
    }
}
