package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class RoostCommandTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-h",
                "demo --help",
                "topology --help",
                "map --help",
                "search --help",
                "search hnsw --help",
                "search ivf --help",
                "serve --help",
                "bench serve --help"
            })
    void helpIsShownOnStandardOutput(String line) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));

        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith("Usage: roost");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void withoutACommandTheHelpIsShown() {
        CommandRun run = CommandRun.of();

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("Usage: roost").contains("demo", "serve");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nonsense",
                "--nonsense",
                "search",
                "search flat",
                "search hnsw",
                "map",
                "map --domains",
                "map --domains two",
                "map --domains 2 --domains 3",
                "map --domains 2 extra",
                "topology --level L9",
                "topology --xml a --synthetic b",
                "topology --json=maybe",
                "demo --seconds 1.5",
                "demo --k",
                "search ivf --base b --query q --k 99999999999"
            })
    void wrongArgumentsAreOneLineAndStatusTwo(String line) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString().startsWith("roost: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "demo --seconds 0",
                "demo --seconds 3601",
                "demo --k 0",
                "demo --k 101",
                "demo --tables 0",
                "demo --tables -1",
                "demo --topology nonsense",
                "map --domains 0",
                "serve --port 65536",
                "serve --tables 0",
                "map --domains -3",
                "topology --synthetic nonsense",
                "topology --xml /nowhere/machine.xml",
                "sim --ccds 99",
                "sim --ccds 2 --machine machine.xml"
            })
    void valuesOutOfRangeAreOneLineAndStatusOne(String line) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString().startsWith("roost: ");
    }

    @Test
    void theDescriptionInTheListOfCommandsIsAWholeSentence() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        Streams streams = new Streams(InputStream.nullInputStream(), nowhere, nowhere, false);

        List<CommandSpec> all = withSubcommands(RoostCommand.commandLine(streams));
        assertThat(all).hasSizeGreaterThan(40);
        for (CommandSpec command : all) {
            String first = command.usageMessage().description()[0];
            assertThat(first).as(command.qualifiedName()).endsWith(".");
        }
    }

    private static List<CommandSpec> withSubcommands(CommandLine command) {
        List<CommandSpec> all = new ArrayList<>();
        all.add(command.getCommandSpec());
        command.getSubcommands().values().forEach(below -> all.addAll(withSubcommands(below)));
        return all;
    }

    @Test
    void aCommandThatIsMisspeltIsAnsweredWithTheOneMeant() {
        assertThat(CommandRun.of("serch").err().strip())
                .isEqualTo("roost: Unmatched argument at index 0: 'serch'; did you mean search? See roost --help");
    }

    @Test
    void aMessageNamesTheValueAndTheExpectation() {
        assertThat(CommandRun.of("demo", "--k", "0").err().strip())
                .isEqualTo("roost: --k must be between 1 and 100, got 0");
    }
}
