package io.github.roost.simulator;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.util.List;

/**
 * The cores as the scheduler sees them, and the actual caches.
 *
 * @param machine its parameters
 * @param layout workers and domains
 * @param l3Of last-level cache of each worker's core
 * @param packageOf package of each last-level cache
 */
record SimulatedMachine(Parameters.Machine machine, WorkerLayout layout, int[] l3Of, int[] packageOf) {
    /**
     * Creates a machine from its parameters.
     *
     * @param level the scheduler's domains: the last-level caches, or the L2 of each core
     */
    static SimulatedMachine of(Parameters.Machine machine, DomainLevel level) {
        Topology topology = TopologyReader.synthetic("pack:%d l3:%d l2:%d core:1 pu:1"
                        .formatted(machine.packages(), machine.domains(), machine.cores()))
                .level(level)
                .read();
        int workers = machine.packages() * machine.domains() * machine.cores();
        int[] l3Of = new int[workers];
        for (int worker = 0; worker < workers; worker++) {
            l3Of[worker] = worker / machine.cores();
        }
        int[] packageOf = new int[machine.packages() * machine.domains()];
        for (int cache = 0; cache < packageOf.length; cache++) {
            packageOf[cache] = cache / machine.domains();
        }
        return new SimulatedMachine(machine, WorkerLayout.of(topology), l3Of, packageOf);
    }

    /** Creates a machine with the cores and cache sizes of a topology, and the speeds of other parameters. */
    static SimulatedMachine of(Topology topology, Parameters.Machine speeds) {
        List<CacheDomain> domains = topology.domains();
        WorkerLayout layout = WorkerLayout.of(topology);
        int[] l3Of = new int[layout.workers()];
        int[] packageOf = new int[domains.size()];
        for (int worker = 0; worker < l3Of.length; worker++) {
            l3Of[worker] = layout.domainOf(worker);
        }
        for (int domain = 0; domain < packageOf.length; domain++) {
            packageOf[domain] = layout.packageOf(domain);
        }
        long cacheBytes = domains.getFirst().cacheBytes();
        double l3Mib = cacheBytes > 0 ? cacheBytes / (1024.0 * 1024) : speeds.l3Mib();
        Parameters.Machine machine = new Parameters.Machine(
                topology.source(),
                1 + packageOf[packageOf.length - 1],
                domains.size() / (1 + packageOf[packageOf.length - 1]),
                layout.workersIn(0),
                speeds.l2Kib(),
                l3Mib,
                speeds.l3Nanos(),
                speeds.dramNanos(),
                speeds.linkGBs(),
                speeds.domainsPerLink(),
                speeds.packageGBs(),
                speeds.computeScale());
        return new SimulatedMachine(machine, layout, l3Of, packageOf);
    }

    /** Size of the cache shared by the workers of a scheduler's domain. */
    long domainCacheBytes() {
        boolean ofL3s = layout.domains() == packageOf.length;
        return (long) (ofL3s ? machine.l3Mib() * 1024 * 1024 : machine.l2Kib() * 1024);
    }

    Memory memory(Sampling sampling) {
        return new Memory(machine, layout, l3Of, packageOf, sampling);
    }
}
