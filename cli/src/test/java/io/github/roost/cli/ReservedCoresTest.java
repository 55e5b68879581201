package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.testkit.packages.FewPackages;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.system.ProcessCpus;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are started with {@code --reserve-cores}. */
@Tag("program")
@EnabledOnOs(OS.LINUX)
class ReservedCoresTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

    private final int cores =
            Math.toIntExact(TopologyReader.live().read().cores().count());
    private final List<Process> started = new ArrayList<>();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path home;

    @BeforeEach
    void fewPackages() throws IOException {
        assumeThat(cores).isGreaterThan(1);
        FewPackages.write(home.resolve("data/debian-packages"));
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void processesShareNoCoreAndAKilledOnesCoreIsFreeAgain() throws Exception {
        int rest = cores - 1;
        Process first = serve(1);
        Process second = serve(rest);

        assertThat(cpusOf(first.pid(), "roost-worker-"))
                .isNotEmpty()
                .doesNotContainAnyElementsOf(cpusOf(second.pid(), ""));
        assertThat(cpusOf(second.pid(), "roost-worker-"))
                .isNotEmpty()
                .doesNotContainAnyElementsOf(cpusOf(first.pid(), ""));
        for (String command : List.of("serve", "demo", "opensearch")) {
            Process refused = start(home, command, "--reserve-cores", "1");
            assertThat(complaints(refused))
                    .containsExactly("roost: cannot reserve 1 core: of the " + cores
                            + " that this process may use, 0 are free (lock files in " + home + ")");
            assertThat(refused.waitFor()).isEqualTo(1);
        }

        Set<Integer> freed = cpusOf(first.pid(), "");
        first.destroyForcibly().waitFor();
        assertThat(cpusOf(serve(1).pid(), "")).isEqualTo(freed);
    }

    @Test
    void anOpenSearchNodeHasTheCoresOfItsLauncherAndEndsWithIt() throws Exception {
        // The node may run as another user.
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx--x--x"));
        Process service = serve(1);
        Process launcher = start(CHECKOUT, "opensearch", "--port", "0", "--sections", "1", "--reserve-cores", "1");
        awaitMessage(launcher, "OpenSearch is on ");
        ProcessHandle node = launcher.children().findFirst().orElseThrow();

        assertThat(cpusOf(node.pid(), "")).isEqualTo(cpusOf(launcher.pid(), ""));
        assertThat(cpusOf(node.pid(), "roost-worker-"))
                .isNotEmpty()
                .doesNotContainAnyElementsOf(cpusOf(service.pid(), ""));

        launcher.destroyForcibly().waitFor();
        assertThat(node.onExit()).succeedsWithin(Duration.ofSeconds(20));
    }

    @Test
    void simulatedCoresAndOddNumbersAreRefused() {
        int before = ProcessCpus.count();
        assertThat(CommandRun.of("serve", "--reserve-cores", 1, "--topology", "pack:1 core:1 pu:1")
                        .complaints())
                .containsExactly("roost: --reserve-cores or --topology may be given, got both");
        assertThat(CommandRun.of("demo", "--reserve-cores", "some").complaints())
                .containsExactly("roost: --reserve-cores must be a number of cores or \"domain\", got some");
        assertThat(CommandRun.of("opensearch", "--reserve-cores", 0).complaints())
                .containsExactly("roost: --reserve-cores must be at least 1, got 0");
        assertThat(ProcessCpus.count()).isEqualTo(before);
    }

    private Process serve(int cores) throws IOException {
        Process process = start(home, "serve", "--port", "0", "--reserve-cores", Integer.toString(cores));
        awaitMessage(process, "serving on ");
        return process;
    }

    private static void awaitMessage(Process process, String start) throws IOException {
        BufferedReader messages = process.errorReader();
        List<String> read = new ArrayList<>();
        do {
            String line = messages.readLine();
            assertThat(line).as(() -> String.join("\n", read)).isNotNull();
            read.add(line);
        } while (!read.getLast().startsWith(start));
    }

    private Process start(Path checkout, String... arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules=jdk.incubator.vector",
                "-Djvector.vectorization_provider=panama",
                "-Droost.home=" + checkout,
                "-Djava.io.tmpdir=" + home,
                "-cp",
                System.getProperty("java.class.path"),
                "io.github.roost.cli.RoostCommand"));
        words.addAll(List.of(arguments));
        Process process = new ProcessBuilder(words).start();
        started.add(process);
        return process;
    }

    private static List<String> complaints(Process process) {
        return process.errorReader()
                .lines()
                .filter(line -> line.startsWith("roost: "))
                .toList();
    }

    /** The CPUs on which a process's threads, or those whose names have this start, may run. */
    private static Set<Integer> cpusOf(long pid, String name) throws IOException {
        Set<Integer> cpus = new TreeSet<>();
        List<Path> threads;
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            threads = tasks.toList();
        }
        for (Path thread : threads) {
            try {
                if (Files.readString(thread.resolve("comm")).startsWith(name)) {
                    cpus.addAll(allowed(Files.readAllLines(thread.resolve("status"))));
                }
            } catch (IOException ended) {
                // So it runs nowhere.
            }
        }
        return cpus;
    }

    private static Set<Integer> allowed(List<String> status) {
        String list = status.stream()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .findFirst()
                .orElseThrow()
                .replaceFirst(".*\\s", "");
        return Arrays.stream(list.split(","))
                .map(range -> range.split("-"))
                .flatMapToInt(ends ->
                        IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1])))
                .boxed()
                .collect(Collectors.toSet());
    }
}
