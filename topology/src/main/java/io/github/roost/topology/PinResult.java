package io.github.roost.topology;

import java.util.List;

/**
 * What became of a request to pin the calling thread.
 *
 * @param asked OS numbers of the PUs that were asked for, ascending
 * @param got OS numbers of the PUs that the kernel lets the thread run on, read back after the bind, ascending
 * @param lastCpu the CPU that the thread was last seen on, or -1 where the system does not say
 * @param pinned whether {@code got} is {@code asked}
 * @param reason why the thread is not pinned, empty when it is
 */
public record PinResult(List<Integer> asked, List<Integer> got, int lastCpu, boolean pinned, String reason) {
    /** Copies the lists. */
    public PinResult {
        asked = List.copyOf(asked);
        got = List.copyOf(got);
    }
}
