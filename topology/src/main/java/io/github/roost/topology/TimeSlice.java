package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/**
 * How long a thread computes at a stretch while others wait for its core. A thread that wakes up takes the core at once
 * from one with a longer slice than its own; beside one whose slice is as long it may wait for a tick of the operating
 * system's clock, up to 4 ms. Whatever the slices, all threads get equal shares of a core in the end: one with a long slice has
 * its share in fewer pieces.
 *
 * <p>Linux, since 6.12: {@code sched_runtime} of {@code sched_setattr(2)}, for threads of its ordinary policies, which it
 * schedules after I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995. Everywhere else threads have
 * no slice that could be read or changed. All methods concern the calling thread, for a virtual thread its carrier.
 */
public final class TimeSlice {
    /** The shortest that a thread can be given, in nanoseconds. */
    public static final long SHORTEST_NANOS = 100_000;
    /** The longest. */
    public static final long LONGEST_NANOS = 100_000_000;

    private TimeSlice() {}

    /** {@return the calling thread's slice in nanoseconds, 0 where threads have none} */
    public static long nanos() {
        try {
            return LinuxScheduler.open().timeSlice();
        } catch (NativeUnavailableException elsewhere) {
            return 0;
        }
    }

    /**
     * Gives the calling thread a slice.
     *
     * @param nanos {@value #SHORTEST_NANOS} to {@value #LONGEST_NANOS}
     * @return false where threads have no slice, or the system refused: nothing is changed then
     * @throws IllegalArgumentException if {@code nanos} is out of its range
     */
    public static boolean set(long nanos) {
        if (nanos < SHORTEST_NANOS || nanos > LONGEST_NANOS) {
            throw new IllegalArgumentException("a time slice of " + nanos + " ns is not between " + SHORTEST_NANOS
                    + " and " + LONGEST_NANOS + " ns");
        }
        try {
            return LinuxScheduler.open().setTimeSlice(nanos);
        } catch (NativeUnavailableException elsewhere) {
            return false;
        }
    }
}
