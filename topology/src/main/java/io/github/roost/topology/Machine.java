package io.github.roost.topology;

import java.util.BitSet;
import java.util.List;

/**
 * A machine as plain sets of PUs, before it is cut into cache domains.
 *
 * @param allowed PUs that may be used
 * @param packages packages in logical order
 * @param numaNodes NUMA nodes, with their OS numbers
 * @param l3 L3 caches, with sizes
 * @param l2 L2 caches, with sizes
 * @param cores cores
 * @param efficiencies efficiency class of each core, -1 where unknown
 */
record Machine(
        BitSet allowed,
        List<Group> packages,
        List<Group> numaNodes,
        List<Group> l3,
        List<Group> l2,
        List<Group> cores,
        int[] efficiencies) {
    /**
     * PUs that belong together.
     *
     * @param osIndex OS number of what holds them, -1 for none
     * @param bytes size where it is a cache
     * @param pus OS numbers
     */
    record Group(int osIndex, long bytes, BitSet pus) {
        /** Those of its PUs that are in {@code others}. */
        BitSet within(BitSet others) {
            BitSet common = (BitSet) pus.clone();
            common.and(others);
            return common;
        }
    }

    /** The groups at a level. */
    List<Group> groups(DomainLevel level) {
        return switch (level) {
            case L3 -> l3;
            case L2 -> l2;
            case NUMA -> numaNodes;
            case PACKAGE -> packages;
        };
    }
}
