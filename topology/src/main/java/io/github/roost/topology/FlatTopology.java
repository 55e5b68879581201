package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The fallback topology if hwloc cannot be used: the CPUs of the process in one domain, each as its own core. */
final class FlatTopology {
    private FlatTopology() {}

    static Topology read() {
        try {
            return of(LinuxScheduler.open().processMask(), true);
        } catch (NativeUnavailableException noMasks) {
            BitSet counted = new BitSet();
            counted.set(0, Runtime.getRuntime().availableProcessors());
            return of(counted, false);
        }
    }

    private static Topology of(BitSet cpus, boolean bindable) {
        List<Core> cores = new ArrayList<>();
        cpus.stream().forEach(cpu -> cores.add(new Core(cores.size(), -1, List.of(cpu))));
        CacheDomain all = new CacheDomain(0, 0, List.of(), 0, cores);
        return new Topology("flat", DomainLevel.PACKAGE, bindable, List.of(all));
    }
}
