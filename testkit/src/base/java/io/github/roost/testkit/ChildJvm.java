package io.github.roost.testkit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A second JVM on the tests' class path, for what cannot be undone or repeated in one. */
public final class ChildJvm {
    private final List<String> before = new ArrayList<>();
    private final List<String> options = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED"));
    private final Class<?> main;

    public ChildJvm(Class<?> main) {
        this.main = main;
    }

    /** Starts it under another command, {@code taskset} say. */
    public ChildJvm under(String... command) {
        before.addAll(List.of(command));
        return this;
    }

    public ChildJvm with(String... jvmOptions) {
        options.addAll(List.of(jvmOptions));
        return this;
    }

    public ChildJvm withNativeAccessDenied() {
        options.set(0, "--illegal-native-access=deny");
        return this;
    }

    public Process start(String... arguments) throws IOException {
        return command(arguments).redirectErrorStream(true).start();
    }

    /** Starts it; what it says on its standard error is thrown away. */
    public Process startQuietly(String... arguments) throws IOException {
        return command(arguments)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private ProcessBuilder command(String... arguments) {
        List<String> command = new ArrayList<>(before);
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(options);
        String here = Stream.of(
                        System.getProperty("jdk.module.path", ""),
                        System.getProperty("java.class.path"),
                        Path.of("target", "test-classes").toAbsolutePath().toString())
                .filter(path -> !path.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
        command.addAll(List.of("-cp", here, main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /** Runs it to its end; the lines it wrote to either stream. */
    public List<String> run(String... arguments) throws IOException, InterruptedException {
        Process process = start(arguments);
        List<String> lines;
        try (BufferedReader output = process.inputReader()) {
            lines = output.lines().toList();
        }
        if (!process.waitFor(1, TimeUnit.MINUTES) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new AssertionError("the child JVM failed: " + lines);
        }
        return lines;
    }
}
