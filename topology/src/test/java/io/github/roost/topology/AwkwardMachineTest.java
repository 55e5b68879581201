package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.topology.text.TopologyText;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Machines that break what one likes to assume of machines, read through hwloc. */
class AwkwardMachineTest {
    /** Files of real machines, which may be put beside a checkout and are not part of it. */
    private static final Path REAL_MACHINES = Path.of("..", "..", "shared", "topologies");

    @Test
    void aHybridMachineWithCoresOutsideTheL3IsReadWhole() throws Exception {
        Topology topology = awkward();
        assertThat(topology.domains()).hasSize(2);
        assertThat(topology.domains().getFirst().cores())
                .containsExactly(new Core(0, 2, List.of(0)), new Core(1, 1, List.of(2)));
        assertThat(topology.domains().getFirst().cacheBytes()).isEqualTo(8 << 20);
        assertThat(topology.domains().getLast().cores())
                .containsExactly(new Core(2, 0, List.of(3)), new Core(3, 0, List.of(4)));
        assertThat(topology.domains().getLast().cacheBytes()).isEqualTo(2 << 20);
    }

    @Test
    void whatMayNotBeUsedIsShownAndInNoDomain() throws Exception {
        Topology topology = awkward();
        assertThat(topology.machine().usablePus()).containsExactly(0, 2, 3, 4);
        assertThat(topology.machine().offlinePus()).containsExactly(5);
        assertThat(topology.machine().cores().getFirst().pus()).containsExactly(0, 1);
        assertThat(TopologyText.of(topology))
                .contains("not usable by this process: PUs 1\n", "offline: PUs 5\n", "class 2");
    }

    @Property(tries = 60)
    void everyPuIsInExactlyOneDomainAtEveryLevel(
            @ForAll @IntRange(min = 1, max = 3) int packages,
            @ForAll @IntRange(min = 1, max = 3) int l3s,
            @ForAll @IntRange(min = 1, max = 2) int nodes,
            @ForAll @IntRange(min = 1, max = 2) int l2s,
            @ForAll @IntRange(min = 1, max = 3) int cores,
            @ForAll @IntRange(min = 1, max = 4) int pus) {
        String machine = "pack:" + packages + " l3:" + l3s + " numa:" + nodes + " l2:" + l2s + " core:" + cores + " pu:"
                + pus + "(indexes=core:pu)";
        int caches = packages * l3s;
        assertDomains(machine, DomainLevel.L3, caches, caches * nodes * l2s * cores, pus);
        assertDomains(machine, DomainLevel.NUMA, caches * nodes, caches * nodes * l2s * cores, pus);
        assertDomains(machine, DomainLevel.L2, caches * nodes * l2s, caches * nodes * l2s * cores, pus);
        assertDomains(machine, DomainLevel.PACKAGE, packages, caches * nodes * l2s * cores, pus);
    }

    private static void assertDomains(String machine, DomainLevel level, int domains, int cores, int pusOfCore) {
        Topology topology = TopologyReader.synthetic(machine).level(level).read();
        assertThat(topology.domains()).hasSize(domains);
        assertThat(topology.cores().map(Core::id)).hasSize(cores).isSorted().doesNotHaveDuplicates();
        assertThat(topology.cores().flatMap(core -> core.pus().stream()))
                .hasSize(cores * pusOfCore)
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "AMD-19h-Zen4-2xEpyc-9654.xml, 24, 8, 33554432, 384",
        "AMD-19h-Zen3-2xEpyc-7763.xml, 16, 8, 33554432, 128",
        "Intel-SapphireRapids-2xXeonMax9460.xml, 2, 40, 102236160, 160",
        "Intel-ArrowLake-CoreUltra5-225U.xml, 2, 10, 12582912, 14"
    })
    void realMachinesHaveTheDomainsOfTheirDataSheets(String file, int domains, int cores, long bytes, int pus) {
        Path machine = REAL_MACHINES.resolve(file);
        assumeTrue(Files.exists(machine), "there is no " + machine + " to read");
        Topology topology = TopologyReader.xml(machine).read();
        assertThat(topology.domains()).hasSize(domains);
        assertThat(topology.domains().getFirst().cores()).hasSize(cores);
        assertThat(topology.domains().getFirst().cacheBytes()).isEqualTo(bytes);
        assertThat(topology.cores().flatMap(core -> core.pus().stream()))
                .hasSize(pus)
                .doesNotHaveDuplicates();
    }

    private static Topology awkward() throws URISyntaxException {
        return TopologyReader.xml(Path.of(
                        AwkwardMachineTest.class.getResource("awkward.xml").toURI()))
                .read();
    }
}
