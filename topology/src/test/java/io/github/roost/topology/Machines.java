package io.github.roost.topology;

import io.github.roost.topology.Machine.Cache;
import io.github.roost.topology.Machine.CpuPackage;
import io.github.roost.topology.Machine.NumaNode;
import io.github.roost.topology.Machine.PhysicalCore;
import java.util.List;
import java.util.stream.IntStream;

/** Awkward machines that hwloc's synthetic syntax cannot describe. */
final class Machines {
    private Machines() {}

    /**
     * Two fast cores of two PUs and two slow cores under one L3, and two slower ones that share an L2 outside of it, in
     * the order of Intel's Arrow Lake.
     */
    static Machine withCoresOutsideTheL3() {
        List<Integer> all = List.of(0, 1, 2, 3, 4, 5, 12, 13);
        return new Machine(
                List.of(new CpuPackage(0, all)),
                List.of(new NumaNode(0, 0, all)),
                List.of(
                        new Cache(2, 3 << 20, List.of(0, 1)),
                        new Cache(2, 3 << 20, List.of(2, 3)),
                        new Cache(2, 4 << 20, List.of(4, 5)),
                        new Cache(2, 2 << 20, List.of(12, 13)),
                        new Cache(3, 12 << 20, List.of(0, 1, 2, 3, 4, 5))),
                List.of(
                        new PhysicalCore(2, List.of(0, 1)),
                        new PhysicalCore(2, List.of(2, 3)),
                        new PhysicalCore(1, List.of(4)),
                        new PhysicalCore(1, List.of(5)),
                        new PhysicalCore(0, List.of(12)),
                        new PhysicalCore(0, List.of(13))),
                all,
                List.of());
    }

    /** Two L3s of two cores with two far-apart PUs each, of which only some PUs are usable. */
    static Machine narrowedTo(Integer... pus) {
        List<Integer> all = List.of(0, 1, 2, 3, 4, 5, 6, 7);
        return new Machine(
                List.of(new CpuPackage(0, all)),
                List.of(new NumaNode(0, 0, all)),
                List.of(new Cache(3, 32 << 20, List.of(0, 1, 4, 5)), new Cache(3, 32 << 20, List.of(2, 3, 6, 7))),
                List.of(
                        new PhysicalCore(-1, List.of(0, 4)),
                        new PhysicalCore(-1, List.of(1, 5)),
                        new PhysicalCore(-1, List.of(2, 6)),
                        new PhysicalCore(-1, List.of(3, 7))),
                List.of(pus),
                List.of(8));
    }

    /** Two cores with an L1 and an L2 each, under one L3. */
    static Machine withCachesOfItsOwnForEachCore() {
        return ofSinglePuCores(
                2,
                new Cache(1, 32 << 10, List.of(0)),
                new Cache(1, 32 << 10, List.of(1)),
                new Cache(2, 1 << 20, List.of(0)),
                new Cache(2, 1 << 20, List.of(1)),
                new Cache(3, 32 << 20, List.of(0, 1)));
    }

    /** Three cores under one L3, of which one has an L2. */
    static Machine withCoresOutsideTheL2() {
        return ofSinglePuCores(3, new Cache(2, 1 << 20, List.of(0)), new Cache(3, 16 << 20, List.of(0, 1, 2)));
    }

    /** Two cores under an L3, and two with nothing but an L2 each. */
    static Machine withLoneCoresOutsideTheL3() {
        return ofSinglePuCores(
                4,
                new Cache(2, 1 << 20, List.of(2)),
                new Cache(2, 1 << 20, List.of(3)),
                new Cache(3, 16 << 20, List.of(0, 1)));
    }

    private static Machine ofSinglePuCores(int cores, Cache... caches) {
        List<Integer> pus = IntStream.range(0, cores).boxed().toList();
        return new Machine(
                List.of(new CpuPackage(0, pus)),
                List.of(new NumaNode(0, 0, pus)),
                List.of(caches),
                pus.stream().map(pu -> new PhysicalCore(-1, List.of(pu))).toList(),
                pus,
                List.of());
    }
}
