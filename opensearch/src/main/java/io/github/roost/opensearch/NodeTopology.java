package io.github.roost.opensearch;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The topology that a node's workers use. If the node has fewer processors than the machine has cores, it has that many unpinned workers. If
 * the machine's topology cannot be read, or threads cannot be pinned, it is a single cache domain with one unpinned worker per processor of
 * the node: slower, but the node always starts.
 *
 * @param topology the topology
 * @param reason why its workers are not pinned; empty if it is the machine's own topology
 */
record NodeTopology(Topology topology, String reason) {
    /**
     * Chooses the topology.
     *
     * @param machine reads the live machine's topology, not narrowed to a quota; an exception it throws becomes the reason
     * @param processors number of processors that the node may use, at least 1; fewer than the process's CPUs if a
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
        Topology narrowed = live.withinQuota(processors);
        if (!narrowed.equals(live)) {
            return new NodeTopology(
                    narrowed,
                    "the node has " + processors + " processors of "
                            + live.cores().count() + " cores");
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
