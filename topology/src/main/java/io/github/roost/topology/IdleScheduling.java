package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/**
 * Threads that run only while no other thread wants their CPU: the policy {@code SCHED_IDLE} of Linux ({@code sched(7)}). A thread of
 * another policy that wakes up takes the CPU from such a one at once. Both methods concern the calling thread, for a virtual
 * thread its carrier.
 */
public final class IdleScheduling {
    private IdleScheduling() {}

    /**
     * Has the calling thread run in that way from now on. There is no way back without privileges that most processes lack.
     *
     * @return false where the system has no such policy, or refuses: nothing is changed then
     */
    public static boolean begin() {
        try {
            return LinuxScheduler.open().setIdle();
        } catch (NativeUnavailableException elsewhere) {
            return false;
        }
    }

    /** {@return whether the calling thread runs in that way} */
    public static boolean isOn() {
        try {
            return LinuxScheduler.open().isIdle();
        } catch (NativeUnavailableException elsewhere) {
            return false;
        }
    }
}
