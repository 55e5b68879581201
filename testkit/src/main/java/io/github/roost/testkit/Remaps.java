package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/** Remaps that a test decides, on made-up machines of two cache domains with a core each. */
public final class Remaps {
    private volatile UnaryOperator<Mapping> next = now -> now;

    /** A machine whose first domain is on NUMA node 0, and whose searches stay in their home domains. */
    public Orchestrator machine(int secondNode) {
        return Orchestrator.builder()
                .topology(new Topology("test", DomainLevel.L3, true, List.of(domain(0, 0), domain(1, secondNode))))
                .pinner(core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine"))
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .mappingPolicy((now, bytes) -> next.apply(now))
                .remapTrigger(new RemapTrigger(.01, 0))
                // On a loaded machine a home whose threads get no core looks like one that is busy.
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .build();
    }

    private static CacheDomain domain(int id, int node) {
        return new CacheDomain(id, 0, List.of(node), 0, List.of(new Core(id, -1, List.of(id))));
    }

    /** Moves the home of an id, by a remap that also divides a load, without which nothing would be moved. */
    public void move(Orchestrator orchestrator, MappingId id, int domain) {
        try (Registration weight = orchestrator.register("weight")) {
            orchestrator.indexing().touched(weight.id(), 1, 1_000_000_000);
            next = now -> now.edit(now.slots())
                    .homes(weight.id().slot(), 0, 1)
                    .home(id.slot(), domain)
                    .build();
            assertThat(orchestrator.indexing().endWindow()).isTrue();
        }
    }
}
