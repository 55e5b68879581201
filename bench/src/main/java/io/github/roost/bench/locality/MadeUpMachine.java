package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A machine with several workers per domain, on any real machine: workers are threads that are not pinned. For tasks that sleep, of which more can
 * run at once than there are cores.
 *
 * @param domains cache domains, from 2
 * @param workersPerDomain from 1
 */
public record MadeUpMachine(int domains, int workersPerDomain) {
    private static final long CACHE_BYTES = 32L << 20;

    /** Checks both arguments. */
    public MadeUpMachine {
        if (domains < 2 || workersPerDomain < 1) {
            throw new IllegalArgumentException(
                    "a made-up machine must have at least 2 domains of at least 1 worker, got " + domains + "x"
                            + workersPerDomain);
        }
    }

    /** Parses {@code DOMAINSxWORKERS}. */
    public static MadeUpMachine of(String text) {
        String[] sides = text.split("x", -1);
        try {
            if (sides.length == 2) {
                return new MadeUpMachine(Integer.parseInt(sides[0]), Integer.parseInt(sides[1]));
            }
        } catch (NumberFormatException e) {
            // Falls through to the same message as for any other invalid text.
        }
        throw new IllegalArgumentException("a made-up machine must be DOMAINSxWORKERS, such as 12x8, got " + text);
    }

    /** The number of all workers. */
    public int workers() {
        return domains * workersPerDomain;
    }

    /** A builder of an orchestrator on this machine. */
    Orchestrator.Builder orchestrator() {
        return Orchestrator.builder()
                .recallShare(0)
                .topology(topology(domains, workersPerDomain, CACHE_BYTES))
                .pinner(MadeUpMachine::unpinned);
    }

    /** A topology of domains of so many workers, whose caches have these bytes. */
    public static Topology topology(int domains, int workersPerDomain, long cacheBytes) {
        List<CacheDomain> all = new ArrayList<>();
        for (int domain = 0; domain < domains; domain++) {
            int first = domain * workersPerDomain;
            List<Core> cores = IntStream.range(first, first + workersPerDomain)
                    .mapToObj(core -> new Core(core, -1, List.of(core)))
                    .toList();
            all.add(new CacheDomain(domain, cacheBytes, List.of(0), 0, cores));
        }
        return new Topology("made up", DomainLevel.L3, false, all);
    }

    /** Pins no worker. */
    public static Pinner.Result unpinned(Core core) {
        return new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine");
    }

    @Override
    public String toString() {
        return domains + "x" + workersPerDomain;
    }
}
