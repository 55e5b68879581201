package io.github.roost.topology.system;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/**
 * The time slice of a thread: how long it runs without interruption while other threads wait for its core. A thread that
 * wakes up preempts a thread with a longer slice at once; a thread with an equal slice may keep the core until the operating
 * system's next clock tick, up to 4 ms. Slices do not change the threads' shares of a core: a longer slice means the same
 * share in fewer pieces.
 *
 * <p>Linux 6.12 and newer: {@code sched_runtime} of {@code sched_setattr(2)}, for threads of the ordinary policies, which
 * Linux schedules by I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995. On other systems a slice
 * can be neither read nor changed. All methods apply to the calling thread, for a virtual thread to its carrier.
 */
public final class TimeSlice {
    /** The minimum slice, in nanoseconds. */
    public static final long SHORTEST_NANOS = 100_000;
    /** The maximum slice, in nanoseconds. */
    public static final long LONGEST_NANOS = 100_000_000;

    private TimeSlice() {}

    /** {@return the calling thread's slice in nanoseconds, or 0 if it has none} */
    public static long nanos() {
        try {
            return LinuxScheduler.open().timeSlice();
        } catch (NativeUnavailableException elsewhere) {
            return 0;
        }
    }

    /**
     * Sets the calling thread's slice.
     *
     * @param nanos the slice in nanoseconds, {@value #SHORTEST_NANOS} to {@value #LONGEST_NANOS}
     * @return false if the thread has no slice or the system refused; then nothing has changed
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
