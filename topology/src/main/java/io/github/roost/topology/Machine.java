package io.github.roost.topology;

import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * All of a machine, what this process may not use included. Immutable; lists are in the machine's order of locality.
 *
 * @param packages the packages (sockets); one that holds everything where the system names none
 * @param numaNodes the NUMA nodes, those without CPUs included
 * @param caches all data and unified caches, the smallest level first
 * @param cores all cores; a PU that the system puts in no core is one of its own
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
     * @param memoryBytes its local memory in bytes, 0 where it is unknown
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
     * @param bytes its size, 0 where it is unknown
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
     * @param efficiency the efficiency class (higher is faster), or -1 where all cores are alike
     * @param pus OS numbers of its PUs, ascending
     */
    public record PhysicalCore(int efficiency, List<Integer> pus) {
        /** Copies the list. */
        public PhysicalCore {
            pus = List.copyOf(pus);
        }
    }

    /** The machine of which nothing but some cache domains is known: it consists of them, and all of it is usable. */
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
