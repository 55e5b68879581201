package io.github.roost.bench;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.List;

/**
 * The first cores of a machine, so that Roost has as many workers as the libraries that it is compared with have threads. Stateless.
 */
public final class FirstCores {
    private FirstCores() {}

    /**
     * Takes the first cores, domain by domain: as few domains as hold them.
     *
     * @param machine the whole machine
     * @param count max number of cores, at least 1
     * @return the machine itself if it has no more cores
     */
    public static Topology of(Topology machine, int count) {
        if (machine.cores().count() <= count) {
            return machine;
        }
        List<CacheDomain> domains = new ArrayList<>();
        int left = count;
        for (CacheDomain domain : machine.domains()) {
            int taken = Math.min(left, domain.cores().size());
            if (taken > 0) {
                domains.add(new CacheDomain(
                        domain.id(),
                        domain.cacheBytes(),
                        domain.numaNodes(),
                        domain.packageId(),
                        domain.cores().subList(0, taken)));
                left -= taken;
            }
        }
        return new Topology(machine.source(), machine.level(), machine.bindable(), domains);
    }
}
