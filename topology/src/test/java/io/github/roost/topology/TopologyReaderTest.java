package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopologyReaderTest {
    @Test
    void aTwoSocketEpycHasOneDomainForEachL3() {
        Topology epyc = TopologyReader.synthetic(
                        "pack:2 [numa] l3:12(size=32MiB) l2:8(size=1MiB) core:1 pu:2(indexes=2*192:192*1)")
                .read();
        assertThat(epyc.level()).isEqualTo(DomainLevel.L3);
        assertThat(epyc.bindable()).isFalse();
        assertThat(epyc.domains()).hasSize(24).allSatisfy(domain -> {
            assertThat(domain.cores()).hasSize(8);
            assertThat(domain.cacheBytes()).isEqualTo(32L << 20);
        });
        assertThat(epyc.domains().getFirst().cores().getFirst().pus()).containsExactly(0, 192);
        assertThat(epyc.domains().get(23).packageId()).isEqualTo(1);
        assertThat(epyc.domains().get(23).numaNodes()).containsExactly(1);
        everyPuOnce(epyc, 384);
    }

    @Test
    void theLevelCanBeForced() {
        String machine = "pack:2 [numa] l3:2(size=16MiB) l2:4(size=512KiB) core:1 pu:2";
        assertThat(read(machine, DomainLevel.L2).domains())
                .hasSize(16)
                .allSatisfy(domain -> assertThat(domain.cacheBytes()).isEqualTo(512L << 10));
        assertThat(read(machine, DomainLevel.NUMA).domains()).hasSize(2);
        assertThat(read(machine, DomainLevel.PACKAGE).domains()).hasSize(2);
        for (DomainLevel level : DomainLevel.values()) {
            everyPuOnce(read(machine, level), 32);
        }
    }

    @Test
    void withoutAnL3TheSharedL2IsTheDomain() {
        Topology topology =
                TopologyReader.synthetic("pack:1 l2:18(size=1MiB) core:2 pu:4").read();
        assertThat(topology.level()).isEqualTo(DomainLevel.L2);
        assertThat(topology.domains()).hasSize(18);
        everyPuOnce(topology, 144);
    }

    @Test
    void withoutSharedCachesThePackageIsTheDomain() {
        Topology topology = TopologyReader.synthetic("pack:2 l2:4 core:1 pu:1").read();
        assertThat(topology.level()).isEqualTo(DomainLevel.PACKAGE);
        assertThat(topology.domains())
                .hasSize(2)
                .allSatisfy(domain -> assertThat(domain.cacheBytes()).isZero());
    }

    @Test
    void numaNodesMayHoldSeveralL3sAndL3sSeveralNumaNodes() {
        Topology manyL3s =
                TopologyReader.synthetic("pack:1 [numa] l3:4 core:2 pu:1").read();
        assertThat(manyL3s.domains())
                .hasSize(4)
                .allSatisfy(domain -> assertThat(domain.numaNodes()).containsExactly(0));
        Topology manyNodes =
                TopologyReader.synthetic("pack:1 l3:1 numa:2 core:2 pu:1").read();
        assertThat(manyNodes.domains()).hasSize(1);
        assertThat(manyNodes.domains().getFirst().numaNodes()).containsExactly(0, 1);
        everyPuOnce(manyNodes, 4);
    }

    @Test
    void aLevelThatTheMachineLacksIsNamed() {
        assertThatThrownBy(() -> read("pack:1 core:2 pu:1", DomainLevel.L3))
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining("the level L3 is not in this machine");
    }

    @Test
    void aBadDescriptionIsNamed() {
        assertThatThrownBy(() -> TopologyReader.synthetic("pack:x banana").read())
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining("pack:x banana");
    }

    @Test
    void aDescriptionTooLargeToBuildIsRefusedBeforeItIsBuilt() {
        assertThatThrownBy(() -> TopologyReader.synthetic("pack:2 [numa] l3:4000(size=1MiB) core:9999 pu:2")
                        .read())
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining("at most 8192 PUs, and has 159984000");
    }

    @Test
    void aMissingOrForeignFileIsNamed(@TempDir Path folder) throws Exception {
        assertThatThrownBy(() -> TopologyReader.xml(folder.resolve("none.xml")).read())
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining("none.xml");
        assertThatThrownBy(() -> TopologyReader.xml(folder).read()).isInstanceOf(TopologyException.class);
        Path foreign = Files.writeString(folder.resolve("foreign.xml"), "<html><body>no</body></html>");
        assertThatThrownBy(() -> TopologyReader.xml(foreign).read())
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining("foreign.xml");
    }

    @Test
    void theLiveMachineHasEveryCpuOfTheProcessOnce() {
        Topology live = TopologyReader.live().read();
        assertThat(live.bindable()).isTrue();
        assertThat(live.cores().flatMap(core -> core.pus().stream()))
                .doesNotHaveDuplicates()
                .hasSize(Runtime.getRuntime().availableProcessors());
    }

    private static Topology read(String machine, DomainLevel level) {
        return TopologyReader.synthetic(machine).level(level).read();
    }

    private static void everyPuOnce(Topology topology, int pus) {
        assertThat(topology.cores().flatMap(core -> core.pus().stream()))
                .doesNotHaveDuplicates()
                .hasSize(pus);
        assertThat(topology.cores().map(Core::id)).doesNotHaveDuplicates();
    }

    @Test
    void aCacheOfOneCoreIsNotTakenForTheSmallerOneInside() {
        Topology topology = TopologyReader.synthetic(
                        "pack:1 l3:1(size=32MiB) l2:2(size=1MiB) l1:1(size=32KiB) core:1 pu:1")
                .level(DomainLevel.L2)
                .read();
        assertThat(topology.domains())
                .hasSize(2)
                .allSatisfy(domain -> assertThat(domain.cacheBytes()).isEqualTo(1L << 20));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pu:9000",
                "pu:0x2328",
                "core:100pu:90",
                "pu:99999999999999999999",
                "pu:8(indexes=4294967295,0)",
                "pu:2(indexes=0,0x9999)"
            })
    void aDescriptionThatWouldTakeLongIsRefused(String description) {
        assertThatThrownBy(() -> TopologyReader.synthetic(description).read())
                .isInstanceOf(TopologyException.class)
                .hasMessageStartingWith("synthetic:" + description);
    }

    /** Of a machine with one CPU; hwloc writes sets without an end for nodes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0xf...f | beyond number 65535
            0x00000001,% | cpuset
            """)
    void aSetWithoutEndIsRefused(String set, String message, @TempDir Path folder) throws Exception {
        String cpus = set.replace("%", "0x1,".repeat(10_000) + "x");
        Path file = Files.writeString(folder.resolve("machine.xml"), """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE topology SYSTEM "hwloc2.dtd">
                <topology version="2.0">
                  <object type="Machine" os_index="0" cpuset="0x00000001" complete_cpuset="%1$s" allowed_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001" gp_index="1">
                    <object type="NUMANode" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2" local_memory="1000000"/>
                    <object type="Core" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3">
                      <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4"/>
                    </object>
                  </object>
                </topology>
                """.formatted(cpus));
        assertThatThrownBy(() -> TopologyReader.xml(file).read())
                .isInstanceOf(TopologyException.class)
                .hasMessageContaining(message);
    }
}
