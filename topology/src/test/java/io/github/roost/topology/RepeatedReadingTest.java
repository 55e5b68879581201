package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class RepeatedReadingTest {
    /** One machine of the probe takes some 20 KB of native memory, so that 10,000 leaked ones would take 200 MB. */
    private static final long ALLOWED_GROWTH_KB = 16_384;

    @Test
    void tenThousandReadingsHoldSteadyMemory() throws Exception {
        var output = new ChildJvm(ReadingProbe.class)
                .with("-Xms48m", "-Xmx48m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .run();
        assertThat(Long.parseLong(output.getLast())).isLessThan(ALLOWED_GROWTH_KB);
    }

    /** Prints by how many KB the process grew over 10,000 readings, every hundredth of the live machine. */
    static final class ReadingProbe {
        private ReadingProbe() {}

        public static void main(String[] args) throws IOException {
            read(1_000);
            long before = residentKilobytes();
            read(10_000);
            System.out.println(residentKilobytes() - before);
        }

        private static void read(int times) {
            TopologyReader made = TopologyReader.synthetic("pack:1 l3:2 core:2 pu:2");
            TopologyReader bad = TopologyReader.synthetic("pack:x");
            for (int i = 0; i < times; i++) {
                (i % 100 == 0 ? TopologyReader.live() : made).read();
                try {
                    bad.read();
                } catch (TopologyException expected) {
                    // A refused reading must free what it had begun, too.
                }
            }
        }

        private static long residentKilobytes() throws IOException {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
