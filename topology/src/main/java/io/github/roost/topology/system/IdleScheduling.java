package io.github.roost.topology.system;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/**
 * Threads that run only while no other thread wants their CPU: the policy {@code SCHED_IDLE} of Linux ({@code sched(7)}). A
 * thread of another policy that wakes up preempts an idle-policy thread at once. Both methods apply to the calling thread,
 * for a virtual thread to its carrier.
 */
public final class IdleScheduling {
    private IdleScheduling() {}

    /**
     * Gives the calling thread the idle policy. Most processes lack the privilege to leave it again.
     *
     * @return false if the system has no such policy or refuses; then nothing has changed
     */
    public static boolean begin() {
        try {
            return LinuxScheduler.open().setIdle();
        } catch (NativeUnavailableException elsewhere) {
            return false;
        }
    }

    /** {@return whether the calling thread has the idle policy} */
    public static boolean isOn() {
        try {
            return LinuxScheduler.open().isIdle();
        } catch (NativeUnavailableException elsewhere) {
            return false;
        }
    }
}
