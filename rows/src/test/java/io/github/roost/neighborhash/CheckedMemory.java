package io.github.roost.neighborhash;

import io.github.roost.neighborhash.kernel.Slots;

/** Hash maps whose memory can run out. */
public final class CheckedMemory {
    private CheckedMemory() {}

    /** An empty map that runs a check, which may throw, before each allocation. */
    public static NeighborHashMap map(Runnable check) {
        return NeighborHashMap.builder(0)
                .memory((slots, seed) -> {
                    check.run();
                    return Slots.allocate(slots, seed);
                })
                .build();
    }
}
