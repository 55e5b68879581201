package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.ChildJvm;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaTest {
    /** Domains of cores with {@code threads} PUs each, numbered as on a PC: first the first PU of each core. */
    private static Topology machine(int threads, int... cores) {
        int all = IntStream.of(cores).sum();
        int[] next = {0};
        List<CacheDomain> domains = IntStream.range(0, cores.length)
                .mapToObj(domain -> new CacheDomain(
                        domain,
                        32L << 20,
                        List.of(domain),
                        0,
                        IntStream.range(0, cores[domain])
                                .mapToObj(core -> core(next[0]++, threads, all))
                                .toList()))
                .toList();
        return new Topology("live", DomainLevel.L3, true, domains);
    }

    private static Core core(int id, int threads, int all) {
        return new Core(
                id,
                -1,
                IntStream.range(0, threads)
                        .mapToObj(thread -> id + thread * all)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({
        "3, '0 1 2'", // a part of the first domain
        "4, '0 1 2 3'",
        "5, '0 1 2 3 | 4'",
        "1, '0'",
        "7, '0 1 2 3 | 4 5 6'"
    })
    void coresAreKeptDomainByDomain(int quota, String expected) {
        Topology narrowed = machine(1, 4, 4).withinQuota(quota);
        assertThat(String.join(
                        " | ",
                        narrowed.domains().stream()
                                .map(domain -> String.join(
                                        " ",
                                        domain.cores().stream()
                                                .map(core ->
                                                        core.pus().getFirst().toString())
                                                .toList()))
                                .toList()))
                .isEqualTo(expected);
        assertThat(narrowed.cores().map(Core::id))
                .containsExactlyElementsOf(IntStream.range(0, quota).boxed().toList());
        assertThat(narrowed.domains().getLast().numaNodes())
                .containsExactly(narrowed.domains().size() - 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 1_000})
    void aQuotaOfAllCoresOrMoreChangesNothing(int quota) {
        Topology machine = machine(1, 4, 4);
        assertThat(machine.withinQuota(quota)).isSameAs(machine);
    }

    @Test
    void domainsOfDifferentSizesAreFilledInOrder() {
        assertThat(machine(1, 2, 8, 1).withinQuota(4).domains())
                .extracting(domain -> domain.cores().size())
                .containsExactly(2, 2);
    }

    /** A core has one worker, which can use the time of one CPU. */
    @Test
    void aCoreOfTwoThreadsCountsAsOneCpu() {
        Topology machine = machine(2, 4, 4);
        assertThat(machine.withinQuota(3).cores().map(Core::pus))
                .containsExactly(List.of(0, 8), List.of(1, 9), List.of(2, 10));
        assertThat(machine.withinQuota(8)).isSameAs(machine);
    }

    @Test
    void threadsAreNotPinnedToCoresThatAQuotaDoesNotReserve() {
        Topology machine = machine(1, 4, 4);
        Topology narrowed = machine.withinQuota(3);
        assertThat(narrowed.bindable()).isFalse();
        assertThat(narrowed.machine()).isEqualTo(machine.machine());
        assertThat(narrowed.source()).isEqualTo("live");
    }

    @Test
    @Tag("program")
    void oneWarningSaysWhyCoresAreNotUsedAndThreadsNotPinned() throws Exception {
        assertThat(new ChildJvm(Narrowing.class).run())
                .filteredOn(line -> line.contains("WARN"))
                .singleElement()
                .asString()
                .contains("the CPU quota is 3, so of 8 cores only as many are used, and threads are not pinned;"
                        + " for pinned threads give the process a cpuset");
    }

    static final class Narrowing {
        private Narrowing() {}

        public static void main(String[] arguments) {
            Topology machine = machine(1, 4, 4);
            TopologyReader.within(machine, OptionalInt.empty());
            TopologyReader.within(machine, OptionalInt.of(8));
            TopologyReader.within(machine, OptionalInt.of(3));
            TopologyReader.within(machine, OptionalInt.of(3));
        }
    }

    @Test
    void aQuotaOfNoCpuIsRefused() {
        assertThatThrownBy(() -> machine(1, 1).withinQuota(0)).hasMessageContaining("at least 1 CPU, got 0");
    }
}
