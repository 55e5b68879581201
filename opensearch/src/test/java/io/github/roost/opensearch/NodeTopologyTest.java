package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeTopologyTest {
    private static final Topology MACHINE = machine(true);

    private static Topology machine(boolean bindable) {
        return new Topology(
                "live",
                DomainLevel.L3,
                bindable,
                IntStream.range(0, 2)
                        .mapToObj(domain -> new CacheDomain(
                                domain,
                                32L << 20,
                                List.of(0),
                                0,
                                IntStream.range(4 * domain, 4 * domain + 4)
                                        .mapToObj(core -> new Core(core, -1, List.of(core)))
                                        .toList()))
                        .toList());
    }

    @Test
    void aNodeWithTheWholeMachineHasItsTopology() {
        assertThat(NodeTopology.choose(() -> MACHINE, 8, true)).isEqualTo(new NodeTopology(MACHINE, ""));
    }

    @Test
    void aNodeWithFewerProcessorsHasThatManyUnpinnedWorkers() {
        NodeTopology chosen = NodeTopology.choose(() -> MACHINE, 3, true);
        assertThat(chosen.topology()).isEqualTo(MACHINE.withinQuota(3));
        assertThat(chosen.topology().bindable()).isFalse();
        assertThat(chosen.reason()).isEqualTo("the node has 3 processors of 8 cores");
    }

    @Test
    void whereNothingCanBePinnedThereIsOneDomain() {
        for (NodeTopology chosen : List.of(
                NodeTopology.choose(() -> MACHINE, 8, false),
                NodeTopology.choose(() -> machine(false), 8, true),
                NodeTopology.choose(
                        () -> {
                            throw new IllegalStateException("unreadable");
                        },
                        8,
                        true))) {
            assertThat(chosen.topology().domains()).hasSize(1);
            assertThat(chosen.topology().cores()).hasSize(8);
            assertThat(chosen.topology().bindable()).isFalse();
            assertThat(chosen.reason()).isNotEmpty();
        }
    }
}
