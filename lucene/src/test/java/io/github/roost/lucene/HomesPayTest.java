package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HomesPayTest {
    @ParameterizedTest
    @CsvSource({
        "pack:1 l3:1 core:4 pu:1, L3, false",
        "pack:1 l3:1 l2:4 core:1 pu:1, L2, false",
        "pack:1 [numa] l3:1 core:4 pu:2, NUMA, false",
        "pack:1 l3:2 core:4 pu:1, L3, true",
        "pack:1 l3:2 l2:4 core:1 pu:1, L2, true",
        "pack:1 l3:2 core:4 pu:1, PACKAGE, false",
        "pack:2 [numa] l3:2 core:4 pu:1, NUMA, true",
        "pack:1 l2:4 core:2 pu:1, L2, true"
    })
    void homesPayIfDomainsHaveSeveralLastLevelCaches(String machine, DomainLevel level, boolean pay) {
        assertThat(SegmentHomes.pay(
                        TopologyReader.synthetic(machine).level(level).read()))
                .isEqualTo(pay);
    }

    @Test
    void ofAMachineWithoutKnownCachesTheDomainsDecide() {
        CacheDomain one = new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0))));
        CacheDomain other = new CacheDomain(1, 0, List.of(0), 0, List.of(new Core(1, -1, List.of(1))));
        assertThat(SegmentHomes.pay(new Topology("flat", DomainLevel.PACKAGE, false, List.of(one))))
                .isFalse();
        assertThat(SegmentHomes.pay(new Topology("flat", DomainLevel.L3, false, List.of(one, other))))
                .isTrue();
    }
}
