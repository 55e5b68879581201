package io.github.roost.topology;

import io.github.roost.topology.system.CpuSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Groups the usable cores into cache domains. A pure function of the machine and the level.
 *
 * <p>The automatic level is L3 if the machine has any; else L2 if several cores share one; else NUMA if no node spans
 * packages (a node that does means that the real nodes are unknown); else the package.
 *
 * <p>A core belongs to the smallest object of the level that contains it. Cores outside every object of the level are
 * grouped by another resource they share: a cache, else a NUMA node, else a package. So every usable core is in exactly one
 * domain, together with cores that it shares a resource with.
 */
final class DomainGrouping {
    private final Machine machine;
    private final DomainLevel level;

    private DomainGrouping(Machine machine, DomainLevel level) {
        this.machine = machine;
        this.level = level;
    }

    /** The level of a machine's domains if none is forced. */
    static DomainLevel automaticLevel(Machine machine) {
        if (has(machine, DomainLevel.L3)) {
            return DomainLevel.L3;
        }
        if (!sharedL2(machine).isEmpty()) {
            return DomainLevel.L2;
        }
        List<BitSet> nodes = objects(machine, DomainLevel.NUMA);
        boolean known = !nodes.isEmpty() && nodesWithinPackages(machine).size() == nodes.size();
        return known ? DomainLevel.NUMA : DomainLevel.PACKAGE;
    }

    /** Whether the machine has any object of a level. */
    static boolean has(Machine machine, DomainLevel level) {
        return !objects(machine, level).isEmpty();
    }

    /** The domains of a machine's usable cores, ordered and numbered by the machine's order of locality. */
    static List<CacheDomain> domains(Machine machine, DomainLevel level) {
        return new DomainGrouping(machine, level).domains();
    }

    private List<CacheDomain> domains() {
        BitSet usable = CpuSet.of(machine.usablePus());
        Map<Place, List<Machine.PhysicalCore>> coresOfPlace = new LinkedHashMap<>();
        for (Machine.PhysicalCore core : machine.cores()) {
            BitSet pus = CpuSet.of(core.pus());
            if (pus.intersects(usable)) {
                coresOfPlace
                        .computeIfAbsent(placeOf(pus), place -> new ArrayList<>())
                        .add(core);
            }
        }
        List<CacheDomain> domains = new ArrayList<>();
        int firstCore = 0;
        for (var place : coresOfPlace.entrySet()) {
            List<Core> cores = usableCores(firstCore, place.getValue(), usable);
            domains.add(domain(domains.size(), place.getKey(), cores));
            firstCore += cores.size();
        }
        return domains;
    }

    private static List<Core> usableCores(int firstId, List<Machine.PhysicalCore> cores, BitSet usable) {
        List<Core> usableCores = new ArrayList<>();
        for (Machine.PhysicalCore core : cores) {
            BitSet pus = CpuSet.intersection(CpuSet.of(core.pus()), usable);
            usableCores.add(new Core(firstId + usableCores.size(), core.efficiency(), CpuSet.list(pus)));
        }
        return usableCores;
    }

    private Place placeOf(BitSet core) {
        return smallestHolding(core, level, objects(machine, level))
                .or(() -> otherwiseShared().stream()
                        .map(other -> smallestHolding(core, other, sharedObjects(other)))
                        .flatMap(Optional::stream)
                        .findFirst())
                .orElseGet(() -> new Place(DomainLevel.PACKAGE, everything()));
    }

    private static Optional<Place> smallestHolding(BitSet core, DomainLevel level, List<BitSet> objects) {
        return objects.stream()
                .filter(object -> object.intersects(core))
                .min(Comparator.comparingInt(BitSet::cardinality))
                .map(pus -> new Place(level, pus));
    }

    /** The levels by which cores outside every object of the level are grouped, the first that contains a core. */
    private List<DomainLevel> otherwiseShared() {
        return switch (level) {
            case L3 -> List.of(DomainLevel.L2, DomainLevel.NUMA, DomainLevel.PACKAGE);
            case L2 -> List.of(DomainLevel.L3, DomainLevel.NUMA, DomainLevel.PACKAGE);
            case NUMA -> List.of(DomainLevel.PACKAGE);
            case PACKAGE -> List.of(DomainLevel.NUMA);
        };
    }

    private List<BitSet> sharedObjects(DomainLevel other) {
        return switch (other) {
            case L2 -> sharedL2(machine);
            case NUMA -> nodesWithinPackages(machine);
            case L3, PACKAGE -> objects(machine, other);
        };
    }

    private CacheDomain domain(int id, Place place, List<Core> cores) {
        BitSet pus = new BitSet();
        cores.forEach(core -> core.pus().forEach(pus::set));
        return new CacheDomain(id, cacheBytes(place), numaNodes(pus), packageId(pus), cores);
    }

    /** The size of the place's own cache, or of the highest-level cache that all its PUs share; 0 if there is none. */
    private long cacheBytes(Place place) {
        return machine.caches().stream()
                .filter(cache -> CpuSet.contains(CpuSet.of(cache.pus()), place.pus()))
                .filter(cache -> place.level() != DomainLevel.L2 || cache.level() == 2)
                .filter(cache -> place.level() != DomainLevel.L3 || cache.level() == 3)
                .reduce((nearer, farther) -> farther)
                .map(Machine.Cache::bytes)
                .orElse(0L);
    }

    private List<Integer> numaNodes(BitSet pus) {
        return machine.numaNodes().stream()
                .filter(node -> CpuSet.of(node.pus()).intersects(pus))
                .map(Machine.NumaNode::id)
                .sorted()
                .toList();
    }

    private int packageId(BitSet pus) {
        return machine.packages().stream()
                .filter(candidate -> CpuSet.of(candidate.pus()).intersects(pus))
                .findFirst()
                .map(Machine.CpuPackage::id)
                .orElse(0);
    }

    private BitSet everything() {
        BitSet all = new BitSet();
        machine.cores().forEach(core -> core.pus().forEach(all::set));
        return all;
    }

    private static List<BitSet> objects(Machine machine, DomainLevel level) {
        return switch (level) {
            case L3 -> caches(machine, 3);
            case L2 -> caches(machine, 2);
            case NUMA ->
                machine.numaNodes().stream()
                        .map(node -> CpuSet.of(node.pus()))
                        .filter(pus -> !pus.isEmpty())
                        .toList();
            case PACKAGE ->
                machine.packages().stream()
                        .map(candidate -> CpuSet.of(candidate.pus()))
                        .toList();
        };
    }

    private static List<BitSet> caches(Machine machine, int cacheLevel) {
        return machine.caches().stream()
                .filter(cache -> cache.level() == cacheLevel)
                .map(cache -> CpuSet.of(cache.pus()))
                .toList();
    }

    private static List<BitSet> sharedL2(Machine machine) {
        return objects(machine, DomainLevel.L2).stream()
                .filter(cache -> machine.cores().stream()
                                .filter(core -> CpuSet.of(core.pus()).intersects(cache))
                                .count()
                        > 1)
                .toList();
    }

    private static List<BitSet> nodesWithinPackages(Machine machine) {
        List<BitSet> packages = objects(machine, DomainLevel.PACKAGE);
        return objects(machine, DomainLevel.NUMA).stream()
                .filter(node -> packages.stream().anyMatch(one -> CpuSet.contains(one, node)))
                .toList();
    }

    /** The object of the machine whose cores form a domain. */
    private record Place(DomainLevel level, BitSet pus) {}
}
