package io.github.roost.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * One run of the command line in this JVM, with what it printed.
 *
 * @param status exit status
 * @param out standard output
 * @param err standard error
 */
public record CommandRun(int status, String out, String err) {
    /** Runs {@code roost} with these arguments and nothing on standard input. */
    public static CommandRun of(Object... arguments) {
        return withInput("", arguments);
    }

    /** Runs {@code roost} with the words of a line and more arguments. */
    static CommandRun ofLine(String line, Object... more) {
        return of(Stream.concat(Arrays.stream(line.split(" ", -1)), Arrays.stream(more))
                .toArray());
    }

    /** Runs {@code roost} with these arguments and this standard input. */
    public static CommandRun withInput(String input, Object... arguments) {
        String[] words = new String[arguments.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = arguments[i].toString();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Streams streams = new Streams(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                false);
        int status = RoostCommand.run(words, streams);
        return new CommandRun(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** The lines of standard error that are a complaint, not progress. */
    public List<String> complaints() {
        return err.lines().filter(line -> line.startsWith("roost: ")).toList();
    }
}
