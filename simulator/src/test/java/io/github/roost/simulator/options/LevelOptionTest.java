package io.github.roost.simulator.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import org.junit.jupiter.api.Test;

class LevelOptionTest {
    @Test
    void oneDomainCannotBeCompared() {
        Topology oneDomain = TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();
        assertThatThrownBy(() -> LevelOption.requireSeveral(oneDomain))
                .hasMessageContaining("at least 2 cache domains, got 1");
    }

    @Test
    void twoDomainsCanBeCompared() {
        Topology twoDomains =
                TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();
        assertThat(LevelOption.requireSeveral(twoDomains)).isSameAs(twoDomains);
    }
}
