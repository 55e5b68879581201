package io.github.roost.opensearch;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The machine as a node's workers take it. Where it cannot be read, or threads cannot be kept on their cores, there is one cache
 * domain of as many workers as the node has processors, and nothing is pinned: slower, and never a node that does not start.
 *
 * @param topology that the workers run on
 * @param reason why it is one domain without pinning; empty where it is the machine's own
 */
record NodeTopology(Topology topology, String reason) {
    /**
     * Decides.
     *
     * @param machine reads the live machine; what it throws is the reason
     * @param processors that the node may use, at least 1: fewer than the machine has CPUs for this process where a container's
     *     share of time is limited, or {@code node.processors} says so
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
            // A share of time comes with no CPUs of one's own: workers bound to the first few would meet those of other
            // nodes there.
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
