package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** On CPUs that no machine has, so that orchestrators of other tests do not meddle. */
class PinnedCoresTest {
    private static final int FIRST = 1_000_000;

    private static Topology machine(int... cpus) {
        List<Core> cores = Arrays.stream(cpus)
                .mapToObj(cpu -> new Core(cpu, -1, List.of(cpu)))
                .toList();
        return new Topology("test", DomainLevel.L3, true, List.of(new CacheDomain(0, 0, List.of(0), 0, cores)));
    }

    private static boolean isFree(int cpu) {
        BitSet one = new BitSet();
        one.set(cpu);
        boolean free = PinnedCores.take(one);
        if (free) {
            new PinnedCores(one).close();
        }
        return free;
    }

    @Test
    void coresAreTakenUntilTheirOrchestratorIsClosed() {
        try (PinnedCores one = PinnedCores.of(machine(FIRST, FIRST + 1), true)) {
            assertThat(one).isNotNull();
            assertThat(isFree(FIRST + 1)).isFalse();
            assertThat(isFree(FIRST + 2)).isTrue();
        }
        assertThat(isFree(FIRST + 1)).isTrue();
    }

    @Test
    void whereNothingIsPinnedNothingIsTaken() {
        try (PinnedCores none = PinnedCores.of(machine(FIRST), false)) {
            assertThat(none).isNotNull();
            assertThat(isFree(FIRST)).isTrue();
        }
    }

    @Test
    void anOrchestratorGivesItsCoresBack() {
        Topology machine = machine(FIRST + 10);
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(machine).build()) {
            assertThat(orchestrator.workers()).isEqualTo(1);
            assertThat(isFree(FIRST + 10)).isFalse();
        }
        assertThat(isFree(FIRST + 10)).isTrue();
    }
}
