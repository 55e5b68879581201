package io.github.roost.opensearch;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The topology that a node's workers use. If the machine's topology cannot be read, or threads cannot be pinned, it is a single cache
 * domain with one unpinned worker per processor of the node: slower, but the node always starts.
 *
 * @param topology the topology
 * @param reason why it is a single domain without pinning; empty if it is the machine's own topology
 */
record NodeTopology(Topology topology, String reason) {
    /**
     * Chooses the topology.
     *
     * @param machine reads the live machine's topology; an exception it throws becomes the reason
     * @param processors number of processors that the node may use, at least 1; less than the number of the process's CPUs if a
     *     container's CPU quota or {@code node.processors} limits it
     * @param pinning whether workers may be pinned
     */
    static NodeTopology choose(Supplier<Topology> machine, int processors, boolean pinning) {
        if (!pinning) {
            return oneDomain(processors, "roost.pinning is false");
        }
        Topology live;
        try {
            live = machine.get();
        } catch (RuntimeException | LinkageError unreadable) {
            return oneDomain(processors, "the machine cannot be read: " + unreadable);
        }
        long cpus = live.cores().mapToLong(core -> core.pus().size()).sum();
        if (processors < cpus) {
            // A CPU quota does not come with CPUs of its own: workers pinned to the first few CPUs would compete there
            // with the
            // workers of other nodes.
            return oneDomain(processors, "the node has " + processors + " processors of " + cpus + " CPUs");
        }
        return live.bindable() ? new NodeTopology(live, "") : oneDomain(processors, "threads cannot be pinned here");
    }

    private static NodeTopology oneDomain(int processors, String reason) {
        List<Core> cores = IntStream.range(0, processors)
                .mapToObj(cpu -> new Core(cpu, -1, List.of(cpu)))
                .toList();
        CacheDomain all = new CacheDomain(0, 0, List.of(), 0, cores);
        return new NodeTopology(new Topology("flat", DomainLevel.PACKAGE, false, List.of(all)), reason);
    }
}
