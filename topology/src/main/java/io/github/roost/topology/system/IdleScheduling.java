package io.github.roost.topology.system;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/**
 * Threads that run only while no other thread wants their CPU: the policy {@code SCHED_IDLE} of Linux ({@code sched(7)}). A
 * thread of another policy that wakes up preempts an idle-policy thread at once.
 */
public final class IdleScheduling {
    private IdleScheduling() {}

    /**
     * Gives the calling thread the idle policy, for a virtual thread its carrier. Most processes lack the privilege to leave it again.
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
}
