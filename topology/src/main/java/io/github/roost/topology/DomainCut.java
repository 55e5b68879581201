package io.github.roost.topology;

import io.github.roost.topology.Machine.Group;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Cuts a machine into cache domains. Every allowed PU ends up in exactly one: PUs outside every object of the chosen
 * level (an Arrow Lake has cores without an L3) form one domain for each package and NUMA node that has such. Pure.
 */
final class DomainCut {
    private final Machine machine;

    DomainCut(Machine machine) {
        this.machine = machine;
    }

    /**
     * The level taken when none is asked for: L3; without one L2, if cores share it; else NUMA nodes, if there are more
     * of them than packages; else packages.
     */
    DomainLevel naturalLevel() {
        if (!machine.l3().isEmpty()) {
            return DomainLevel.L3;
        }
        boolean sharedL2 = machine.l2().stream()
                .anyMatch(cache -> machine.cores().stream()
                                .filter(core -> core.pus().intersects(cache.pus()))
                                .count()
                        > 1);
        if (sharedL2) {
            return DomainLevel.L2;
        }
        return distinct(machine.numaNodes()) > Math.max(1, machine.packages().size())
                ? DomainLevel.NUMA
                : DomainLevel.PACKAGE;
    }

    private static long distinct(List<Group> groups) {
        return groups.stream()
                .map(Group::pus)
                .filter(pus -> !pus.isEmpty())
                .distinct()
                .count();
    }

    List<CacheDomain> domains(DomainLevel level) {
        BitSet left = (BitSet) machine.allowed().clone();
        List<CacheDomain> domains = new ArrayList<>();
        int firstCore = 0;
        for (Group group : machine.groups(level)) {
            BitSet pus = group.within(left);
            if (!pus.isEmpty()) {
                domains.add(domain(domains.size(), group.bytes(), pus, firstCore));
                firstCore += domains.getLast().cores().size();
                left.andNot(pus);
            }
        }
        for (BitSet pus : byPackageAndNode(left)) {
            domains.add(domain(domains.size(), 0, pus, firstCore));
            firstCore += domains.getLast().cores().size();
        }
        return domains;
    }

    private List<BitSet> byPackageAndNode(BitSet pus) {
        TreeMap<Long, BitSet> parts = new TreeMap<>();
        pus.stream().forEach(pu -> {
            long key = (long) holder(machine.packages(), pu) << 32 | holder(machine.numaNodes(), pu);
            parts.computeIfAbsent(key, none -> new BitSet()).set(pu);
        });
        return List.copyOf(parts.values());
    }

    /** Index of the first group that holds a PU, 0 where none does. */
    private static int holder(List<Group> groups, int pu) {
        return IntStream.range(0, groups.size())
                .filter(i -> groups.get(i).pus().get(pu))
                .findFirst()
                .orElse(0);
    }

    private CacheDomain domain(int id, long bytes, BitSet pus, int firstCore) {
        List<Integer> nodes = machine.numaNodes().stream()
                .filter(node -> node.pus().intersects(pus))
                .map(Group::osIndex)
                .sorted()
                .toList();
        return new CacheDomain(id, bytes, nodes, holder(machine.packages(), pus.nextSetBit(0)), cores(pus, firstCore));
    }

    private List<Core> cores(BitSet pus, int firstCore) {
        BitSet left = (BitSet) pus.clone();
        List<Core> cores = new ArrayList<>();
        for (int i = 0; i < machine.cores().size(); i++) {
            BitSet own = machine.cores().get(i).within(left);
            if (!own.isEmpty()) {
                cores.add(new Core(firstCore + cores.size(), machine.efficiencies()[i], numbers(own)));
                left.andNot(own);
            }
        }
        left.stream().forEach(pu -> cores.add(new Core(firstCore + cores.size(), -1, List.of(pu))));
        return cores;
    }

    private static List<Integer> numbers(BitSet pus) {
        return pus.stream().boxed().toList();
    }

    /** Levels that the machine has. */
    Set<DomainLevel> levels() {
        Set<DomainLevel> levels = new TreeSet<>();
        for (DomainLevel level : DomainLevel.values()) {
            if (!machine.groups(level).isEmpty()) {
                levels.add(level);
            }
        }
        return levels;
    }
}
