package io.github.roost.simulator;

/**
 * A link or memory of limited bandwidth. Time is divided into short slots of fixed capacity; a transfer takes the first
 * slots with room from its time on, and waits for them. So requests may come slightly out of order, as they do when
 * cores are simulated a few nodes at a time, and still none waits for a request that is later in virtual time. Not
 * thread-safe.
 */
final class Bandwidth {
    private static final long SLOT_NANOS = 256;
    private static final int SLOTS = 1 << 14;

    private final double bytesPerSlot;
    private final double[] used = new double[SLOTS];
    /** The slot number that each entry of {@link #used} counts. */
    private final long[] slotOf = new long[SLOTS];
    /** Slots from {@code fullFrom} to {@code fullTo}, exclusive, are known to be full. */
    private long fullFrom;

    private long fullTo;

    Bandwidth(double bytesPerNano) {
        this.bytesPerSlot = bytesPerNano * SLOT_NANOS;
    }

    /** Reserves room for a transfer requested at {@code now}; returns the nanoseconds that the transfer waits. */
    double delay(double now, double bytes) {
        long requested = (long) now / SLOT_NANOS;
        boolean knownFull = requested >= fullFrom && requested < fullTo;
        long slot = knownFull ? fullTo : requested;
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
            fullFrom = requested;
        }
        fullTo = slot;
        return Math.max(0, slot * SLOT_NANOS - now);
    }
}
