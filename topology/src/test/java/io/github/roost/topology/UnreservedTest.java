package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What reserves CPUs, OpenHFT's affinity and its JNA, is loaded by who reserves some, and by nobody else. */
@Tag("program")
@EnabledOnOs(OS.LINUX)
class UnreservedTest {
    private static final List<String> OF_RESERVATIONS = List.of("net.openhft", "com.sun.jna");

    /** Reserves a core. */
    static final class ReservingProbe {
        private ReservingProbe() {}

        public static void main(String[] args) {
            try (CpuReservation cores = CpuReservation.of(TopologyReader.live().read(), 1)) {
                System.out.println(cores.topology());
            }
        }
    }

    private static List<String> loadedBy(Class<?> main) throws Exception {
        return new ChildJvm(main)
                .with("-verbose:class").run().stream()
                        .filter(line -> OF_RESERVATIONS.stream().anyMatch(line::contains))
                        .toList();
    }

    @Test
    void readingTheMachineAndPinningLoadNoneOfIt() throws Exception {
        assertThat(loadedBy(LiveProbe.class)).isEmpty();
        // So that this test cannot go blind.
        assertThat(loadedBy(ReservingProbe.class))
                .anyMatch(line -> line.contains("net.openhft.affinity"))
                .anyMatch(line -> line.contains("com.sun.jna"));
    }
}
