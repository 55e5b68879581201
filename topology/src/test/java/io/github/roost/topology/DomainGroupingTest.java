package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.junit.jupiter.api.Test;

class DomainGroupingTest {
    @Test
    void coresOutsideEveryL3FormADomainWithTheCacheThatTheyShare() {
        List<CacheDomain> domains = DomainGrouping.domains(Machines.withCoresOutsideTheL3(), DomainLevel.L3);
        assertThat(domains).hasSize(2);
        assertThat(domains.get(0).pus()).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(domains.get(0).cacheBytes()).isEqualTo(12 << 20);
        assertThat(domains.get(1).pus()).containsExactly(12, 13);
        assertThat(domains.get(1).cacheBytes()).isEqualTo(2 << 20);
    }

    @Test
    void coresKeepTheirOwnNumberOfPusAndTheirEfficiency() {
        assertThat(DomainGrouping.domains(Machines.withCoresOutsideTheL3(), DomainLevel.L3).stream()
                        .flatMap(domain -> domain.cores().stream()))
                .containsExactly(
                        new Core(0, 2, List.of(0, 1)),
                        new Core(1, 2, List.of(2, 3)),
                        new Core(2, 1, List.of(4)),
                        new Core(3, 1, List.of(5)),
                        new Core(4, 0, List.of(12)),
                        new Core(5, 0, List.of(13)));
    }

    @Test
    void oneUsablePuOfACoreIsAllThatTheCoreHas() {
        List<CacheDomain> domains = DomainGrouping.domains(Machines.narrowedTo(4, 1, 5), DomainLevel.L3);
        assertThat(domains).hasSize(1);
        assertThat(domains.getFirst().cores())
                .containsExactly(new Core(0, -1, List.of(4)), new Core(1, -1, List.of(1, 5)));
    }

    @Test
    void aDomainThatLostACoreStillHasItsWholeCache() {
        List<CacheDomain> domains = DomainGrouping.domains(Machines.narrowedTo(0, 4, 2, 3, 6, 7), DomainLevel.L3);
        assertThat(domains).extracting(CacheDomain::cacheBytes).containsExactly(32L << 20, 32L << 20);
        assertThat(domains).extracting(domain -> domain.cores().size()).containsExactly(1, 2);
    }

    @Test
    void aDomainIsAsLargeAsTheCacheOfItsLevel() {
        Machine machine = Machines.withCachesOfItsOwnForEachCore();
        assertThat(sizes(machine, DomainLevel.L2)).containsExactly(1L << 20, 1L << 20);
        assertThat(sizes(machine, DomainLevel.L3)).containsExactly(32L << 20);
        assertThat(sizes(machine, DomainLevel.PACKAGE)).containsExactly(32L << 20);
    }

    @Test
    void coresOutsideEveryL2StayTogetherUnderTheirL3() {
        Machine machine = Machines.withCoresOutsideTheL2();
        assertThat(DomainGrouping.domains(machine, DomainLevel.L2))
                .extracting(CacheDomain::pus, CacheDomain::cacheBytes)
                .containsExactly(tuple(List.of(0), 1L << 20), tuple(List.of(1, 2), 16L << 20));
    }

    @Test
    void loneCoresOutsideEveryL3AreOneDomainAndNotOneEach() {
        Machine machine = Machines.withLoneCoresOutsideTheL3();
        assertThat(DomainGrouping.domains(machine, DomainLevel.L3))
                .extracting(CacheDomain::pus)
                .containsExactly(List.of(0, 1), List.of(2, 3));
    }

    private static List<Long> sizes(Machine machine, DomainLevel level) {
        return DomainGrouping.domains(machine, level).stream()
                .map(CacheDomain::cacheBytes)
                .toList();
    }
}
