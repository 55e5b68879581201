package io.github.roost.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Programs of this machine that tests run. */
final class Programs {
    /** Where the modules are. */
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private Programs() {}

    static boolean isOnPath(String program) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** What a program prints, which must end well. */
    static List<String> run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor())
                .as(() -> String.join(" ", command) + "\n" + String.join("\n", lines))
                .isZero();
        return lines;
    }
}
