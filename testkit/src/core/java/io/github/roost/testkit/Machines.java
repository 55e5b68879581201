package io.github.roost.testkit;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Made-up machines for tests: nothing is pinned to them. */
public final class Machines {
    private Machines() {}

    /** One package of {@code domains} domains with {@code coresPerDomain} cores each. */
    public static Topology of(int domains, int coresPerDomain) {
        return packages(1, domains, coresPerDomain);
    }

    /** Several packages alike. */
    public static Topology packages(int packages, int domainsPerPackage, int coresPerDomain) {
        List<CacheDomain> domains = new ArrayList<>();
        int core = 0;
        for (int domain = 0; domain < packages * domainsPerPackage; domain++) {
            List<Core> cores = new ArrayList<>();
            for (int i = 0; i < coresPerDomain; i++, core++) {
                cores.add(new Core(core, -1, List.of(core)));
            }
            domains.add(new CacheDomain(domain, 32L << 20, List.of(0), domain / domainsPerPackage, cores));
        }
        return new Topology("test", DomainLevel.L3, false, domains);
    }

    /** Several NUMA nodes alike, as if they were this machine's. */
    public static Topology numa(int nodes, int domainsPerNode, int coresPerDomain) {
        Topology packages = packages(nodes, domainsPerNode, coresPerDomain);
        return new Topology(
                "test",
                DomainLevel.L3,
                true,
                packages.domains().stream()
                        .map(domain -> new CacheDomain(
                                domain.id(),
                                domain.cacheBytes(),
                                List.of(domain.packageId()),
                                domain.packageId(),
                                domain.cores()))
                        .toList());
    }

    /** The same machine, which is not this one. */
    public static Topology unbound(Topology machine) {
        return new Topology(machine.source(), machine.level(), false, machine.domains());
    }

    /** Leaves every worker unpinned. */
    public static Function<Core, Pinner.Result> unpinned() {
        return core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine");
    }

    /** A builder for a made-up machine. */
    public static Orchestrator.Builder orchestrator(int domains, int coresPerDomain) {
        return Orchestrator.builder().topology(of(domains, coresPerDomain)).pinner(unpinned());
    }
}
