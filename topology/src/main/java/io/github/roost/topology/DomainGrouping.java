package io.github.roost.topology;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides which usable cores form a cache domain. A pure function of the machine and the level.
 *
 * <p>Without a level that was asked for, it is L3 where there is any; else L2 where several cores share one; else NUMA,
 * where no node spans packages (one that does says only that nothing is known of the nodes); else the package.
 *
 * <p>A core goes to the smallest object of the level that holds it. A core that no object of the level holds goes by the
 * same rule to an object of the next level of that list, so that every usable core is in exactly one domain.
 */
final class DomainGrouping {
    private static final List<DomainLevel> COARSENING =
            List.of(DomainLevel.L3, DomainLevel.L2, DomainLevel.NUMA, DomainLevel.PACKAGE);

    private final Machine machine;
    private final DomainLevel level;

    private DomainGrouping(Machine machine, DomainLevel level) {
        this.machine = machine;
        this.level = level;
    }

    /** The level that a machine's domains are of where nobody asks for another. */
    static DomainLevel automaticLevel(Machine machine) {
        if (has(machine, DomainLevel.L3)) {
            return DomainLevel.L3;
        }
        if (objects(machine, DomainLevel.L2).stream().anyMatch(cache -> coresIn(machine, cache) > 1)) {
            return DomainLevel.L2;
        }
        return nodesStayWithinPackages(machine) ? DomainLevel.NUMA : DomainLevel.PACKAGE;
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
        Map<BitSet, List<Machine.PhysicalCore>> coresOfPlace = new LinkedHashMap<>();
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

    /** The PUs of the object that makes the core's domain; those of the whole machine are the last resort. */
    private BitSet placeOf(BitSet core) {
        return COARSENING.subList(COARSENING.indexOf(level), COARSENING.size()).stream()
                .map(candidate -> smallestHolding(core, candidate))
                .flatMap(Optional::stream)
                .findFirst()
                .orElseGet(this::everything);
    }

    private Optional<BitSet> smallestHolding(BitSet core, DomainLevel candidate) {
        return objects(machine, candidate).stream()
                .filter(object -> object.intersects(core))
                .min(Comparator.comparingInt(BitSet::cardinality));
    }

    private CacheDomain domain(int id, BitSet place, List<Core> cores) {
        BitSet pus = new BitSet();
        cores.forEach(core -> core.pus().forEach(pus::set));
        return new CacheDomain(id, cacheBytes(place), numaNodes(pus), packageId(pus), cores);
    }

    /** The size of the nearest cache that everything in the place shares. */
    private long cacheBytes(BitSet place) {
        return machine.caches().stream()
                .filter(cache -> CpuSet.contains(CpuSet.of(cache.pus()), place))
                .findFirst()
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

    private static long coresIn(Machine machine, BitSet pus) {
        return machine.cores().stream()
                .filter(core -> CpuSet.of(core.pus()).intersects(pus))
                .count();
    }

    private static boolean nodesStayWithinPackages(Machine machine) {
        List<BitSet> packages = objects(machine, DomainLevel.PACKAGE);
        return has(machine, DomainLevel.NUMA)
                && objects(machine, DomainLevel.NUMA).stream()
                        .allMatch(node -> packages.stream().anyMatch(one -> CpuSet.contains(one, node)));
    }
}
