package io.github.roost.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

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
        List<String> command = new ArrayList<>(before);
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
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
