package io.github.roost.topology;

import io.github.roost.topology.hwloc.HwlocObject;
import io.github.roost.topology.hwloc.HwlocObjectType;
import io.github.roost.topology.hwloc.HwlocTopology;
import io.github.roost.topology.system.CpuSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** Copies a loaded hwloc topology into a {@link Machine}. */
final class MachineReading {
    private static final List<HwlocObjectType> CACHES = List.of(
            HwlocObjectType.L1_CACHE,
            HwlocObjectType.L2_CACHE,
            HwlocObjectType.L3_CACHE,
            HwlocObjectType.L4_CACHE,
            HwlocObjectType.L5_CACHE);

    private final HwlocTopology hwloc;
    private final BitSet pus = new BitSet();

    private MachineReading(HwlocTopology hwloc) {
        this.hwloc = hwloc;
        hwloc.objects(HwlocObjectType.PU).forEach(pu -> pus.or(pu.cpus()));
    }

    /**
     * The whole machine.
     *
     * @param allowed the CPUs that may be used
     */
    static Machine read(HwlocTopology hwloc, BitSet allowed) {
        return new MachineReading(hwloc).machine(allowed);
    }

    private Machine machine(BitSet allowed) {
        BitSet usable = CpuSet.intersection(allowed, pus);
        BitSet offline = CpuSet.difference(hwloc.completeCpus(), pus);
        return new Machine(packages(), numaNodes(), caches(), cores(), CpuSet.list(usable), CpuSet.list(offline));
    }

    private List<Machine.CpuPackage> packages() {
        List<HwlocObject> found = hwloc.objects(HwlocObjectType.PACKAGE);
        return found.isEmpty()
                ? List.of(new Machine.CpuPackage(0, CpuSet.list(pus)))
                : IntStream.range(0, found.size())
                        .mapToObj(id -> new Machine.CpuPackage(
                                id, CpuSet.list(found.get(id).cpus())))
                        .toList();
    }

    private List<Machine.NumaNode> numaNodes() {
        return hwloc.objects(HwlocObjectType.NUMA_NODE).stream()
                .map(node -> new Machine.NumaNode(node.osNumber(), node.bytes(), CpuSet.list(node.cpus())))
                .toList();
    }

    private List<Machine.Cache> caches() {
        List<Machine.Cache> caches = new ArrayList<>();
        for (int i = 0; i < CACHES.size(); i++) {
            for (HwlocObject cache : hwloc.objects(CACHES.get(i))) {
                caches.add(new Machine.Cache(i + 1, cache.bytes(), CpuSet.list(cache.cpus())));
            }
        }
        return caches;
    }

    private List<Machine.PhysicalCore> cores() {
        List<BitSet> kinds = hwloc.cpuKinds();
        List<Machine.PhysicalCore> cores = new ArrayList<>();
        BitSet covered = new BitSet();
        for (HwlocObject core : hwloc.objects(HwlocObjectType.CORE)) {
            cores.add(core(core.cpus(), kinds));
            covered.or(core.cpus());
        }
        for (HwlocObject pu : hwloc.objects(HwlocObjectType.PU)) {
            if (!covered.intersects(pu.cpus())) {
                cores.add(core(pu.cpus(), kinds));
            }
        }
        return cores;
    }

    private static Machine.PhysicalCore core(BitSet cpus, List<BitSet> kinds) {
        int efficiency = -1;
        for (int kind = 0; kinds.size() > 1 && kind < kinds.size(); kind++) {
            if (kinds.get(kind).intersects(cpus)) {
                efficiency = kind;
            }
        }
        return new Machine.PhysicalCore(efficiency, CpuSet.list(cpus));
    }
}
