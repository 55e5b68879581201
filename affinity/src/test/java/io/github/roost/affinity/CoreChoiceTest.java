package io.github.roost.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Machine;
import io.github.roost.topology.Machine.PhysicalCore;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which cores a reservation takes, and which CPUs it locks for them. */
class CoreChoiceTest {
    private final List<Core> cores =
            TopologyReader.synthetic("pack:1 l3:1 core:9 pu:1").read().cores().toList();
    private final List<List<Core>> free = List.of(cores.subList(0, 4), cores.subList(4, 6), cores.subList(6, 9));

    @Test
    void coresAreOfTheSmallestDomainThatSuffices() {
        assertThat(CpuReservation.ofFewDomains(free, 1)).isEqualTo(cores.subList(4, 5));
        assertThat(CpuReservation.ofFewDomains(free, 3)).isEqualTo(cores.subList(6, 9));
        assertThat(CpuReservation.ofFewDomains(free, 4)).isEqualTo(cores.subList(0, 4));
    }

    @Test
    void moreCoresThanADomainHasAreOfFewDomains() {
        assertThat(CpuReservation.ofFewDomains(free, 6))
                .containsExactly(cores.get(0), cores.get(1), cores.get(2), cores.get(3), cores.get(4), cores.get(5));
        assertThat(CpuReservation.ofFewDomains(free, 9)).containsExactlyInAnyOrderElementsOf(cores);
    }

    @Test
    void aCoreIsLockedWithThePusThatTheProcessMayNotUse() {
        Core half = new Core(0, -1, List.of(1));
        Machine machine = new Machine(
                List.of(),
                List.of(),
                List.of(),
                List.of(new PhysicalCore(-1, List.of(0, 4)), new PhysicalCore(-1, List.of(1, 5))),
                List.of(1),
                List.of());
        assertThat(CpuReservation.locksOf(machine, half)).containsExactly(1, 5);
    }

    @Test
    void cpusWithoutALockAreLeftOut() {
        Core across = new Core(0, -1, List.of(255, 256));
        Topology topology = new Topology(
                "live", DomainLevel.L3, true, List.of(new CacheDomain(0, 0, List.of(), 0, List.of(across))));
        assertThat(CpuReservation.locksOf(topology.machine(), across)).containsExactly(255);
    }
}
