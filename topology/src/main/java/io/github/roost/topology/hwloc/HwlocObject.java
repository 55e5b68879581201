package io.github.roost.topology.hwloc;

import java.util.BitSet;

/**
 * One object of an hwloc topology, copied out of native memory.
 *
 * @param osNumber the operating system's number of the object, or -1 if it has none
 * @param cpus OS numbers of the PUs under it, or local to it
 * @param bytes size of a cache, or local memory of a NUMA node; 0 for other types
 */
public record HwlocObject(int osNumber, BitSet cpus, long bytes) {}
