package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.text.TopologyJson;
import io.github.roost.topology.text.TopologyText;
import org.junit.jupiter.api.Test;

class TopologyJsonTest {
    private final Topology topology = TopologyReader.synthetic("pack:1 [numa] l3:1(size=32MiB) core:1 pu:2")
            .read();

    @Test
    void jsonHasTheDocumentedForm() {
        assertThat(TopologyJson.of(topology))
                .isEqualTo("{\"source\":\"synthetic:pack:1 [numa] l3:1(size=32MiB) core:1 pu:2\",\"level\":\"L3\","
                        + "\"domains\":[{\"id\":0,\"cacheBytes\":33554432,\"numa\":[0],\"package\":0,"
                        + "\"cores\":[{\"id\":0,\"efficiency\":-1,\"pus\":[0,1]}]}]}");
    }

    @Test
    void textNamesDomainsCoresAndPus() {
        assertThat(TopologyText.of(topology)).contains("1 cache domain of level L3", "32 MiB", "PU 0-1");
    }
}
