package io.github.roost.topology;

import io.github.roost.topology.system.CpuSet;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A whole machine, including the parts that this process may not use. Immutable; lists are in the machine's order of locality.
 *
 * @param packages the packages (sockets); if the system names none, one that holds everything
 * @param numaNodes the NUMA nodes, including nodes without CPUs
 * @param caches all data and unified caches, the smallest level first
 * @param cores all cores; a PU that the system assigns to no core is its own core
 * @param usablePus OS numbers of the PUs that this process may use, ascending
 * @param offlinePus OS numbers of the PUs that exist and are offline, ascending; they are in no core
 */
public record Machine(
        List<CpuPackage> packages,
        List<NumaNode> numaNodes,
        List<Cache> caches,
        List<PhysicalCore> cores,
        List<Integer> usablePus,
        List<Integer> offlinePus) {
    /** Copies the lists. */
    public Machine {
        packages = List.copyOf(packages);
        numaNodes = List.copyOf(numaNodes);
        caches = List.copyOf(caches);
        cores = List.copyOf(cores);
        usablePus = List.copyOf(usablePus);
        offlinePus = List.copyOf(offlinePus);
    }

    /**
     * One package.
     *
     * @param id its logical index, from 0
     * @param pus OS numbers of its PUs, ascending
     */
    public record CpuPackage(int id, List<Integer> pus) {
        /** Copies the list. */
        public CpuPackage {
            pus = List.copyOf(pus);
        }
    }

    /**
     * One NUMA node.
     *
     * @param id its OS number
     * @param memoryBytes its local memory in bytes, 0 if it is unknown
     * @param pus OS numbers of the PUs that are local to it, ascending; none for memory without CPUs
     */
    public record NumaNode(int id, long memoryBytes, List<Integer> pus) {
        /** Copies the list. */
        public NumaNode {
            pus = List.copyOf(pus);
        }
    }

    /**
     * One data or unified cache.
     *
     * @param level 1 for L1, and so on
     * @param bytes its size in bytes, 0 if it is unknown
     * @param pus OS numbers of the PUs that share it, ascending
     */
    public record Cache(int level, long bytes, List<Integer> pus) {
        /** Copies the list. */
        public Cache {
            pus = List.copyOf(pus);
        }
    }

    /**
     * One core with all of its PUs, usable or not.
     *
     * @param efficiency the efficiency class (higher is faster), or -1 if all cores are alike
     * @param pus OS numbers of its PUs, ascending
     */
    public record PhysicalCore(int efficiency, List<Integer> pus) {
        /** Copies the list. */
        public PhysicalCore {
            pus = List.copyOf(pus);
        }
    }

    /** A machine of which only cache domains are known: it consists of them, and all of it is usable. */
    static Machine of(List<CacheDomain> domains) {
        var packages = new TreeMap<Integer, TreeSet<Integer>>();
        var nodes = new TreeMap<Integer, TreeSet<Integer>>();
        BitSet all = new BitSet();
        for (CacheDomain domain : domains) {
            List<Integer> pus = domain.pus();
            packages.computeIfAbsent(domain.packageId(), id -> new TreeSet<>()).addAll(pus);
            domain.numaNodes()
                    .forEach(node ->
                            nodes.computeIfAbsent(node, id -> new TreeSet<>()).addAll(pus));
            pus.forEach(all::set);
        }
        return new Machine(
                packages.entrySet().stream()
                        .map(e -> new CpuPackage(e.getKey(), List.copyOf(e.getValue())))
                        .toList(),
                nodes.entrySet().stream()
                        .map(e -> new NumaNode(e.getKey(), 0, List.copyOf(e.getValue())))
                        .toList(),
                List.of(),
                domains.stream()
                        .flatMap(domain -> domain.cores().stream())
                        .map(core -> new PhysicalCore(core.efficiency(), core.pus()))
                        .toList(),
                CpuSet.list(all),
                List.of());
    }
}
