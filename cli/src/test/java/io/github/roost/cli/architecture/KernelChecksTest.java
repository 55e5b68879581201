package io.github.roost.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.testkit.Effort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the programs {@code src/test/c/isa_check.c}, which hold every instruction set's kernels against the portable ones: those
 * of this CPU as they are built and under the sanitizers of addresses and of undefined behavior, those of 64-bit Arm in an emulator.
 */
@Tag("program")
class KernelChecksTest {
    private static final String SANITIZED = "-Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all";
    private static final String ARM = "aarch64-linux-gnu-gcc";
    private static final String MACHINE = System.getProperty("os.arch").replace("amd64", "x86_64");

    private static final String ROUNDS = Integer.toString(Effort.times(60));

    @TempDir
    private Path directory;

    static Stream<Path> modules() throws IOException {
        try (Stream<Path> all = Files.list(Programs.ROOT)) {
            return all
                    .filter(module -> Files.exists(module.resolve("src/test/c/isa_check.c")))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void everyKernelOfThisCpuGivesTheSameBitsAndStaysInItsMemory(Path module) throws Exception {
        requireCompiler();
        assertKernelsAgree(link(module, "cc", SANITIZED, sanitized(module)));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void everyKernelOfThisCpuGivesTheSameBitsAsItWasBuilt(Path module) throws Exception {
        requireCompiler();
        assertKernelsAgree(link(module, "cc", "-O2", built(module, MACHINE)));
    }

    private static void requireCompiler() {
        assumeTrue(Programs.isOnPath("cc") && Programs.isOnPath("make"), "there is no C compiler, or no make");
    }

    private static void assertKernelsAgree(Path check) throws Exception {
        assertThat(Programs.run(List.of(check.toString(), ROUNDS)))
                .anyMatch(line -> line.startsWith("portable as portable"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void everyKernelOfArmGivesTheSameBits(Path module) throws Exception {
        assumeTrue(
                Programs.isOnPath(ARM) && Programs.isOnPath("qemu-aarch64"),
                "no compiler or emulator of Arm: install gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user");
        Path check = link(module, ARM, "-O2", built(module, "aarch64"));
        String compared = isWrittenForArm(module) ? "neon as portable" : "portable as portable";
        // The first has no instructions for dot products of bytes, the second has.
        for (String cpu : List.of("cortex-a57", "max")) {
            assertThat(Programs.run(List.of(
                            "qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu", check.toString(), ROUNDS)))
                    .as(cpu)
                    .anyMatch(line -> line.startsWith(compared));
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void withoutACompilerOneLineNamesTheCodeThatServesInstead(Path module) throws Exception {
        assumeTrue(Programs.isOnPath("make"), "there is no make");
        assertThat(make(module, "CC=/nonexistent"))
                .hasSize(1)
                .first()
                .asString()
                .startsWith("no C compiler (/nonexistent): ")
                .endsWith(" in Java");
        assertThat(directory).isEmptyDirectory();
    }

    private static boolean isWrittenForArm(Path module) throws IOException {
        try (Stream<Path> sources = Files.list(module.resolve("src/main/c"))) {
            return sources.anyMatch(source -> source.toString().endsWith("_neon.c"));
        }
    }

    /** The library that is in the module's jar. */
    private static Path built(Path module, String machine) throws IOException {
        Path folder = module.resolve("target/classes/native/linux-" + machine);
        assumeTrue(Files.isDirectory(folder), module + " was built without kernels for " + machine);
        return library(folder);
    }

    private Path sanitized(Path module) throws Exception {
        make(module, "CFLAGS=" + SANITIZED);
        return library(directory.resolve("linux-" + MACHINE));
    }

    private List<String> make(Path module, String variable) throws Exception {
        return Programs.run(List.of(
                "make",
                "-s",
                "-j2",
                "-C",
                module.resolve("src/main/c").toString(),
                "OUT=" + directory,
                "OBJ=" + directory.resolve("obj"),
                "MACHINES=" + MACHINE,
                variable));
    }

    private static Path library(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".so"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private Path link(Path module, String compiler, String flags, Path library) throws Exception {
        Path check = directory.resolve("isa_check");
        List<String> command = new ArrayList<>(List.of(compiler));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of("-std=gnu11", "-Wall", "-Wextra", "-o", check.toString()));
        command.addAll(List.of(
                "-I",
                module.resolve("src/main/c").toString(),
                "-I",
                Programs.ROOT.resolve("vector/src/main/c").toString(),
                "-I",
                Programs.ROOT.resolve("vector/src/test/c").toString()));
        command.add(module.resolve("src/test/c/isa_check.c").toString());
        command.addAll(List.of(library.toString(), "-Wl,-rpath," + library.getParent()));
        command.add("-lm");
        Programs.run(command);
        return check;
    }
}
