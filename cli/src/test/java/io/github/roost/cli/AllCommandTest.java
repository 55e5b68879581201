package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.roost.bench.report.Parts;
import io.github.roost.bench.report.RunPart;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("stress")
class AllCommandTest {
    private static final Path SMALL_RUN =
            Path.of("../bench/src/test/resources/io/github/roost/bench/report/small-run.json");

    private static Stream<RunPart> everyPart() {
        return Stream.of(Parts.of(false, true), Parts.of(false, false), Parts.of(true, true), Parts.of(true, false))
                .flatMap(parts -> parts.stream());
    }

    @ParameterizedTest
    @MethodSource("everyPart")
    void everyPartIsACommandThatThereIs(RunPart part) {
        Streams streams = new Streams(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(new ByteArrayOutputStream()),
                new PrintStream(new ByteArrayOutputStream()),
                false);
        String[] words = Stream.concat(
                        part.command().stream(), part.writesFile() ? Stream.of("--json", "FILE") : Stream.of("--json"))
                .toArray(String[]::new);

        assertThatCode(() -> RoostCommand.commandLine(streams).parseArgs(words)).doesNotThrowAnyException();
    }

    @Test
    void aPartRunsInAJvmOfItsOwnAndIsNotRunAgain(@TempDir Path folder) throws Exception {
        Object[] arguments = {"bench", "all", "--quick", "--only", "remap", "--out", folder};
        CommandRun first = CommandRun.of(arguments);
        assertThat(first.complaints()).isEmpty();
        assertThat(first.err()).contains("[1/1, about 1 min left] ./roost bench remap", "done in");
        assertThat(folder.resolve("results.json")).content().contains("withRemap", "\"cpu\"", "\"jvector\"");
        assertThat(folder.resolve("index.html")).content().contains("that begin with a remap");
        String part = Files.readString(folder.resolve("parts/remap.json"));

        CommandRun again = CommandRun.of(arguments);
        assertThat(again.err()).contains("is there already");
        assertThat(folder.resolve("parts/remap.json")).hasContent(part);
    }

    @Test
    void aRunThatIsOverIsDrawnWithoutRunningAnything(@TempDir Path folder) {
        CommandRun run = CommandRun.of(
                "bench", "all", "--from", SMALL_RUN, "--out", folder, "--evidence", folder.resolve("e.md"));
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("index.html");
        assertThat(folder.resolve("index.html")).content().contains("<svg ");
        assertThat(folder.resolve("e.md")).content().startsWith("<!-- Made by roost bench all --evidence of e.json");
        assertThat(folder.resolve("e.json")).exists();
    }

    @Test
    void badOptionsAreNamed(@TempDir Path folder) {
        assertThat(CommandRun.of("bench", "all", "--only", "none", "--out", folder)
                        .err())
                .contains("--only must be in the name of a part", "got none");
        assertThat(CommandRun.of("bench", "all", "--from", SMALL_RUN, "--evidence", "e.txt", "--out", folder)
                        .err())
                .contains("--evidence must name a file that ends in .md, got e.txt");
        assertThat(CommandRun.of("bench", "all", "--from", folder.resolve("no.json"), "--out", folder)
                        .err())
                .contains("no.json");
    }
}
