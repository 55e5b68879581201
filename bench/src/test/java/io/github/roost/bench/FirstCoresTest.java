package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import org.junit.jupiter.api.Test;

class FirstCoresTest {
    private static final Topology MACHINE =
            TopologyReader.synthetic("pack:1 l3:3 core:4 pu:2").read();

    @Test
    void asManyCoresAreTakenFromAsFewDomainsAsHoldThem() {
        Topology two = FirstCores.of(MACHINE, 2);
        assertThat(two.cores())
                .containsExactlyElementsOf(MACHINE.cores().limit(2).toList());
        assertThat(two.domains()).hasSize(1);

        Topology six = FirstCores.of(MACHINE, 6);
        assertThat(six.cores())
                .containsExactlyElementsOf(MACHINE.cores().limit(6).toList());
        assertThat(six.domains()).extracting(CacheDomain::id).containsExactly(0, 1);
        assertThat(six.level()).isEqualTo(MACHINE.level());
    }

    @Test
    void aMachineWithNoMoreCoresIsTakenWhole() {
        assertThat(FirstCores.of(MACHINE, 12)).isSameAs(MACHINE);
    }
}
