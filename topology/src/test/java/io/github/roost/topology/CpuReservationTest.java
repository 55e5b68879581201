package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("program")
@EnabledOnOs(OS.LINUX)
class CpuReservationTest {
    private static final String NONE_FREE = "cores is free";

    @TempDir
    private Path locks;

    @Test
    void twoProcessesNeverShareACore() throws Exception {
        Process holder = holder();
        try (BufferedReader holding = holder.inputReader()) {
            assertThat(holding.readLine()).startsWith("reserved ");
            assertThat(child().run("all")).singleElement().asString().contains(NONE_FREE);
            holder.outputWriter().append('\n').flush();
            assertThat(holder.waitFor()).isZero();
            assertThat(child().run("all")).singleElement().asString().startsWith("reserved ");
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void theLocksOfAKilledProcessAreTakenOver() throws Exception {
        Process holder = holder();
        try (BufferedReader holding = holder.inputReader()) {
            String reserved = holding.readLine();
            holder.destroyForcibly().waitFor();
            assertThat(locks.toFile().list()).isNotEmpty();
            assertThat(child().run("all")).containsExactly(reserved);
        }
    }

    @Test
    void nullAffinityIsDetectedAndReported() throws Exception {
        List<String> seen = child().withNativeAccessDenied().run("layout");
        assertThat(seen).contains("openHftPins=false");
        assertThat(seen.stream().filter(line -> line.contains("WARN") && line.contains("pin nothing")))
                .hasSize(1);
    }

    @Test
    void onlyCoresOfThisMachineCanBeReserved() {
        Topology made = TopologyReader.synthetic("pack:1 core:2 pu:1").read();
        assertThatThrownBy(() -> CpuReservation.of(made, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got synthetic:pack:1");
        assertThatThrownBy(() -> CpuReservation.of(made, 0)).hasMessageContaining("1 or more, got 0");
    }

    @Test
    void reservingTwiceInOneProcessGivesDisjointCores() throws Exception {
        assertThat(child().run("twice")).containsExactly("second: none of the 1 cores is free");
    }

    private Process holder() throws Exception {
        return child().start("hold");
    }

    private ChildJvm child() {
        return new ChildJvm(ReservingProbe.class).with("-Djava.io.tmpdir=" + locks);
    }

    /** Reserves all cores; holds them until a line comes in, or ends at once. */
    static final class ReservingProbe {
        private ReservingProbe() {}

        public static void main(String[] args) throws Exception {
            System.setProperty("org.slf4j.simpleLogger.log.net.openhft", "off");
            switch (args[0]) {
                case "layout" -> System.out.println("openHftPins=" + DomainCpuLayout.openHftPins());
                case "twice" -> reserveTwice();
                default -> reserve(args[0].equals("hold"));
            }
        }

        private static void reserve(boolean hold) throws Exception {
            try (CpuReservation reservation =
                    CpuReservation.of(TopologyReader.live().read(), 10_000)) {
                System.out.println("reserved "
                        + reservation.topology().cores().map(Core::pus).toList());
                if (hold) {
                    int ignored = System.in.read();
                }
            } catch (TopologyException noneFree) {
                System.out.println(noneFree.getMessage());
            }
        }

        private static void reserveTwice() {
            CacheDomain one = new CacheDomain(0, 0, List.of(), 0, List.of(new Core(0, -1, List.of(0))));
            Topology topology = new Topology("live", DomainLevel.PACKAGE, true, List.of(one));
            try (CpuReservation first = CpuReservation.of(topology, 1);
                    CpuReservation second = CpuReservation.of(topology, 1)) {
                System.out.println("both: " + first.topology() + second.topology());
            } catch (TopologyException noneFree) {
                String message = String.valueOf(noneFree.getMessage());
                System.out.println("second: " + message.substring(0, message.indexOf(',')));
            }
        }
    }
}
