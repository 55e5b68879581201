package io.github.roost.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.util.List;
import java.util.stream.IntStream;
import net.openhft.affinity.AffinityStrategies;
import org.junit.jupiter.api.Test;

class DomainCpuLayoutTest {
    private final DomainCpuLayout layout = new DomainCpuLayout(
            TopologyReader.synthetic("pack:1 l3:2 core:2 pu:2(indexes=2*4:4*1)").read());

    @Test
    void aSocketIsACacheDomain() {
        assertThat(layout.sockets()).isEqualTo(2);
        assertThat(layout.coresPerSocket()).isEqualTo(2);
        assertThat(layout.threadsPerCore()).isEqualTo(2);
        assertThat(cpusOfSocket(0)).containsExactly(0, 1, 4, 5);
        assertThat(cpusOfSocket(1)).containsExactly(2, 3, 6, 7);
    }

    @Test
    void theSiblingOfACpuIsItsPair() {
        assertThat(layout.pair(1)).isEqualTo(5);
        assertThat(layout.pair(5)).isEqualTo(1);
        assertThat(layout.coreId(5)).isEqualTo(1);
        assertThat(layout.threadId(5)).isEqualTo(1);
    }

    @Test
    void cpusOutsideEveryDomainShareALastSocketWithNobodyElse() {
        CacheDomain domain = new CacheDomain(0, 0, List.of(), 0, List.of(new Core(0, -1, List.of(1, 3))));
        DomainCpuLayout sparse = new DomainCpuLayout(new Topology("live", DomainLevel.L3, true, List.of(domain)));
        assertThat(sparse.cpus()).isEqualTo(4);
        assertThat(sparse.sockets()).isEqualTo(2);
        assertThat(List.of(sparse.socketId(0), sparse.socketId(1), sparse.socketId(2), sparse.socketId(3)))
                .containsExactly(1, 0, 1, 0);
        assertThat(sparse.pair(0)).isEqualTo(-1);
    }

    @Test
    void openHftsSameSocketThenMeansAnotherCoreOfTheSameDomain() throws Exception {
        assertThat(new ChildJvm(StrategyProbe.class).run()).containsExactly("same [1, 5]");
    }

    @Test
    void withoutNativeAccessOpenHftPinsNothingAndAWarningSaysSo() throws Exception {
        assertThat(new ChildJvm(PinningProbe.class).withNativeAccessDenied().run())
                .contains("pins: false")
                .filteredOn(line -> line.contains("WARN") && line.contains("pin nothing"))
                .hasSize(1);
    }

    private List<Integer> cpusOfSocket(int socket) {
        return IntStream.range(0, layout.cpus())
                .filter(cpu -> layout.socketId(cpu) == socket)
                .boxed()
                .toList();
    }

    /** Prints which CPUs OpenHFT's strategy takes for neighbors of CPU 0. */
    static final class StrategyProbe {
        private StrategyProbe() {}

        public static void main(String[] args) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
            DomainCpuLayout installed = new DomainCpuLayoutTest().layout;
            installed.install();
            System.out.println("same "
                    + IntStream.range(0, installed.cpus())
                            .filter(cpu -> AffinityStrategies.SAME_SOCKET.matches(0, cpu))
                            .boxed()
                            .toList());
        }
    }

    /** Prints whether OpenHFT's library pins. */
    static final class PinningProbe {
        private PinningProbe() {}

        public static void main(String[] args) {
            CacheDomain domain = new CacheDomain(0, 0, List.of(), 0, List.of(new Core(0, -1, List.of(0))));
            Topology topology = new Topology("live", DomainLevel.L3, true, List.of(domain));
            System.out.println("pins: " + CpuReservation.installLayout(topology));
        }
    }
}
