package io.github.roost.bench.rivals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.simulator.measure.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurveMeasurementTest {
    /** Finds as large a share, in percent, as its ef, and searches 1,000 over ef times a second. */
    private record Made(String name, int speed) implements MeasuredEngine {
        @Override
        public Duration buildTime() {
            return Duration.ZERO;
        }

        @Override
        public int[][] search(int k, int ef) throws IOException {
            if (speed == 0) {
                throw new IOException("no such instruction");
            }
            return new int[][] {{ef}};
        }

        @Override
        public double rate(int k, int ef, Duration time) {
            return 1_000.0 * speed / ef;
        }
    }

    private static Curves measured(List<String> progress, Made... engines) throws Exception {
        Sweep sweep = new Sweep(10, List.of(70, 85, 95, 99, 100), .95, 3, Duration.ofMillis(1), Duration.ZERO);
        return CurveMeasurement.curves("made", List.of(engines), 1, sweep, found -> found[0][0] / 100.0, progress::add);
    }

    @Test
    void anEngineSearchesNoWiderThanIsEnough() throws Exception {
        Curves curves = measured(new ArrayList<>(), new Made("roost", 1), new Made("other", 2));

        assertThat(curves.curves()).hasSize(2).allSatisfy(curve -> {
            assertThat(curve.points()).extracting(Curves.Point::ef).containsExactly(70, 85, 95);
            assertThat(curve.points())
                    .allSatisfy(point -> assertThat(point.rates()).hasSize(3));
        });
    }

    @Test
    void anEngineThatCannotSearchIsLeftOutAndTheReasonTold() throws Exception {
        List<String> progress = new ArrayList<>();

        Curves curves = measured(progress, new Made("roost", 1), new Made("broken", 0), new Made("other", 2));

        assertThat(curves.curves()).extracting(Curves.Curve::engine).containsExactly("roost", "other");
        assertThat(progress).containsExactly("broken is left out: no such instruction");
    }

    @Test
    void theBestOfTheOthersIsTheOneThatIsFastestAtTheRecall() throws Exception {
        Curves curves = measured(new ArrayList<>(), new Made("roost", 6), new Made("slow", 1), new Made("fast", 3));
        Curves.Curve table = curves.curves().getFirst();

        assertThat(curves.againstTheBest(table, .9))
                .hasValueSatisfying(best ->
                        assertThat(best).hasToString("at recall 0.90: roost is 2.00 (2.00 to 2.00) times fast"));
        assertThat(curves.againstTheBest(table, .6)).isEmpty();
        assertThat(curves.againstTheBest(table, .97)).isEmpty();
    }

    @Test
    void keptNeighborsAreReadAgain(@TempDir Path kept) throws Exception {
        Workload workload = Workload.mixture(500, 20, 8, 5, 1).byCosine();
        new CurveMeasurement(workload, 10, kept);
        Path file;
        try (var files = Files.list(kept)) {
            file = files.findFirst().orElseThrow();
        }
        byte[] whole = Files.readAllBytes(file);
        CurveMeasurement again = new CurveMeasurement(workload, 10, kept);
        Sweep sweep = new Sweep(10, List.of(10), Sweep.ALL, 1, Duration.ofMillis(1), Duration.ZERO);
        List<String> progress = new ArrayList<>();

        assertThat(whole).hasSize(20 * 10 * Integer.BYTES);
        assertThat(again.curves(List.of(), 0, sweep, progress::add).curves()).isEmpty();
        Files.write(file, new byte[3]);
        assertThatThrownBy(() -> new CurveMeasurement(workload, 10, kept)).isInstanceOf(RuntimeException.class);
    }

    /** A program in the place of Python. */
    private static RivalEngine rival(Path folder, String program) throws IOException {
        Path python = Files.createFile(
                folder.resolve("python"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.writeString(python, "#!/bin/sh\n" + program);
        return new RivalEngine("made", Workload.mixture(20, 2, 4, 2, 1), python, EngineSettings.graph(4, 10));
    }

    @Test
    void aLibraryThatCannotBuildSaysWhy(@TempDir Path folder) {
        assertThatThrownBy(() -> rival(folder, "echo failed no wheel for this CPU\n"))
                .isInstanceOf(IOException.class)
                .hasMessage("no wheel for this CPU");
    }

    @Test
    void aLibraryBuildsAndSearchesInItsOwnProcess(@TempDir Path folder) throws Exception {
        String program = """
                echo 0.25
                while read -r what k ef seconds; do
                    case $what in
                        search) head -c $((4 * k * 2)) /dev/zero >"$2/found"; echo 0 ;;
                        bytes) echo 4096 ;;
                        *) echo "$ef" ;;
                    esac
                done
                """;
        try (RivalEngine rival = rival(folder, program)) {
            assertThat(rival.buildTime()).isEqualTo(Duration.ofMillis(250));
            assertThat(rival.bytes()).isEqualTo(4_096);
            assertThat(rival.search(3, 10)).isDeepEqualTo(new int[2][3]);
            assertThat(rival.rate(3, 40, Duration.ofMillis(1))).isEqualTo(40);
        }
    }
}
