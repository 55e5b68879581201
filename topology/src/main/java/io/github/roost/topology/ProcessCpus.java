package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;

/** The CPUs that this process may use. Thread-safe. */
public final class ProcessCpus {
    private ProcessCpus() {}

    /**
     * Returns the number of CPUs in the process's affinity mask. {@code Runtime.availableProcessors()} counts those of the calling thread,
     * so on a pinned worker only those of its core.
     *
     * @return at least 1; on systems other than Linux, and if native access is denied, {@code Runtime.availableProcessors()}
     */
    public static int count() {
        try {
            return Math.max(1, LinuxScheduler.open().processMask().cardinality());
        } catch (NativeUnavailableException neverPinned) {
            // Without access to masks there are no pinned threads.
            return Runtime.getRuntime().availableProcessors();
        }
    }
}
