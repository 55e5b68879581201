package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The {@code ./roost} commands that README.md and docs show exist, with the options shown. */
class DocumentedCommandsTest {
    private static final Pattern COMMAND = Pattern.compile("(?:^|`)\\./roost((?: [^`\\n#]*)?)", Pattern.MULTILINE);
    private static final Pattern WORDS = Pattern.compile("[a-z][a-z|-]*");
    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z0-9-]*");
    /** The launcher's own, whose arguments the command line does not see. */
    private static final Set<String> LAUNCHER = Set.of("check", "dist", "install", "release", "soak", "test");

    private final CommandSpec roost = RoostCommand.commandLine(new Streams(
                    new ByteArrayInputStream(new byte[0]),
                    new PrintStream(new ByteArrayOutputStream()),
                    new PrintStream(new ByteArrayOutputStream()),
                    false))
            .getCommandSpec();

    @ParameterizedTest
    @MethodSource("io.github.roost.cli.docs.Documents#all")
    void everyCommandAndItsOptionsExist(Path document) throws IOException {
        assertThat(COMMAND.matcher(Files.readString(document))
                        .results()
                        .flatMap(match -> unknown(roost, match.group(1)).stream()))
                .isEmpty();
    }

    @Test
    void theReferenceNamesEveryCommand() throws IOException {
        String reference = Files.readString(Path.of("../docs/reference/commands.md"));

        assertThat(commands(roost)
                        .flatMap(command -> Stream.concat(Stream.of(command), commands(command)))
                        .filter(command -> !command.usageMessage().hidden()))
                .hasSizeGreaterThan(40)
                .allSatisfy(command -> assertThat(reference).containsPattern("[` ]" + command.name() + "[ `]"));
    }

    private static Stream<CommandSpec> commands(CommandSpec parent) {
        return parent.subcommands().values().stream().map(CommandLine::getCommandSpec);
    }

    @Test
    void aCommandThatDoesNotExistIsReported() {
        assertThat(unknown(roost, " search hnsw --base B.fvecs [--ef N]")).isEmpty();
        assertThat(unknown(roost, " test -pl core")).isEmpty();
        assertThat(unknown(roost, " find me --fast")).containsExactly("find");
        assertThat(unknown(roost, " bench ivf|faiss")).containsExactly("faiss");
        assertThat(unknown(roost, " topology --shape round")).containsExactly("topology --shape");
    }

    /** The subcommands of a line, several of which may be given as {@code a|b}, and the options, that there are not. */
    private static List<String> unknown(CommandSpec command, String line) {
        String[] words = line.strip().split("\\s+", 2);
        if (LAUNCHER.contains(words[0])) {
            return List.of();
        }
        if (command.subcommands().isEmpty() || !WORDS.matcher(words[0]).matches()) {
            return unknownOptions(command, line);
        }
        List<String> unknown = new ArrayList<>();
        for (String name : words[0].split("\\|", -1)) {
            CommandLine subcommand = command.subcommands().get(name);
            unknown.addAll(
                    subcommand == null
                            ? List.of(name)
                            : unknown(subcommand.getCommandSpec(), words.length > 1 ? words[1] : ""));
        }
        return unknown;
    }

    private static List<String> unknownOptions(CommandSpec command, String line) {
        return OPTION.matcher(line)
                .results()
                .map(option -> option.group())
                .filter(option -> command.findOption(option) == null)
                .map(option -> command.name() + " " + option)
                .toList();
    }
}
