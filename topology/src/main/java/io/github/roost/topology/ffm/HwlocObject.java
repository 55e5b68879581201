package io.github.roost.topology.ffm;

import java.util.BitSet;

/**
 * One object of a machine as hwloc describes it.
 *
 * @param osIndex number that the operating system gives it, -1 where it gives none
 * @param logicalIndex index among the objects of its type
 * @param cacheBytes size of a cache in bytes, 0 for other objects
 * @param cpus OS numbers of its usable PUs
 */
public record HwlocObject(int osIndex, int logicalIndex, long cacheBytes, BitSet cpus) {
    public HwlocObject {
        cpus = (BitSet) cpus.clone();
    }
}
