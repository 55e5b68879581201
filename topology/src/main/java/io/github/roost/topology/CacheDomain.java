package io.github.roost.topology;

import java.util.List;

/**
 * The cores that share one last-level cache (AMD: CCD or CCX): the unit of placement.
 *
 * @param id index in {@link Topology#domains()}, from 0
 * @param cacheBytes size in bytes of the cache that the domain's cores share, 0 if there is none or it is unknown
 * @param numaNodes OS numbers of the NUMA nodes local to the domain, ascending
 * @param packageId logical index of the package (socket) that holds the domain, from 0
 * @param cores the domain's usable cores, never empty
 */
public record CacheDomain(int id, long cacheBytes, List<Integer> numaNodes, int packageId, List<Core> cores) {
    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if there is no core
     */
    public CacheDomain {
        numaNodes = List.copyOf(numaNodes);
        cores = List.copyOf(cores);
        if (cores.isEmpty()) {
            throw new IllegalArgumentException("cache domain " + id + " must have at least one core, got none");
        }
    }

    /** {@return the OS numbers of the usable PUs of all the domain's cores, ascending} */
    public List<Integer> pus() {
        return cores.stream().flatMap(core -> core.pus().stream()).sorted().toList();
    }
}
