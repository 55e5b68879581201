package io.github.roost.topology;

import java.util.List;

/**
 * The outcome of a request to pin the calling thread.
 *
 * @param asked OS numbers of the requested PUs, ascending
 * @param got OS numbers of the PUs that the thread may run on, read back from the kernel after the bind, ascending; empty if
 *     masks cannot be read here
 * @param lastCpu the CPU that the thread last ran on, or -1 if the system does not say
 * @param pinned whether the bind succeeded and {@code got} equals {@code asked}
 * @param reason why the thread is not pinned, empty if it is
 */
public record PinResult(List<Integer> asked, List<Integer> got, int lastCpu, boolean pinned, String reason) {
    /** Copies the lists. */
    public PinResult {
        asked = List.copyOf(asked);
        got = List.copyOf(got);
    }
}
