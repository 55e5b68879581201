package io.github.roost.examples.cli;

import io.github.roost.bench.report.Part;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs a command of Roost in a JVM of its own, so that no benchmark runs in what another left behind: compiled code,
 * pinned threads, a full heap. What it has to say is passed on as it comes. Not thread-safe.
 */
final class RoostProcess {
    /** A part that takes so long hangs; the others are not to wait for it. */
    private static final long MAX_MINUTES = 15;

    private final PrintStream err;

    RoostProcess(PrintStream err) {
        this.err = err;
    }

    /**
     * Runs a part to its end.
     *
     * @param json where its JSON is to be
     * @return an empty text, or the last that it said if it failed
     */
    String run(Part part, Path json) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(jvm());
        part.command().forEach(word -> words.add(leftBy(word, json)));
        words.add("--json");
        Path printed = json.resolveSibling(part.name() + ".txt");
        if (part.writesFile()) {
            words.add(json.toString());
        }
        Process process = new ProcessBuilder(words)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput((part.writesFile() ? printed : json).toFile())
                .start();
        Thread ender = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(ender);
        AtomicBoolean late = new AtomicBoolean();
        CompletableFuture<Void> limit = CompletableFuture.runAsync(
                () -> {
                    late.set(true);
                    process.destroyForcibly();
                },
                CompletableFuture.delayedExecutor(MAX_MINUTES, TimeUnit.MINUTES));
        try {
            String last = passedOn(process);
            int status = process.waitFor();
            Files.deleteIfExists(status == 0 ? printed : json);
            if (late.get()) {
                return "ended after %d minutes: %s".formatted(MAX_MINUTES, last);
            }
            return status == 0 ? "" : "status %d: %s".formatted(status, last);
        } finally {
            limit.cancel(false);
            process.destroy();
            removeHook(ender);
        }
    }

    /** A word {@code NAME.json} is the file that the part of this name has left beside the others. */
    private static String leftBy(String word, Path json) {
        return word.endsWith(".json")
                ? json.resolveSibling(word.replaceFirst("json$", "raw.json")).toString()
                : word;
    }

    /** Passes on what the process says, and returns the last line of it. */
    private String passedOn(Process process) throws IOException {
        String last = "it said nothing";
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.startsWith("WARNING: Using incubator modules")) {
                    err.println("    " + line);
                    last = line;
                }
            }
        }
        return last;
    }

    static void removeHook(Thread ender) {
        try {
            Runtime.getRuntime().removeShutdownHook(ender);
        } catch (IllegalStateException shuttingDown) {
            // Then the hook runs anyway, and finds nothing to end.
        }
    }

    /** This JVM, as it was started. */
    static List<String> jvm() {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        words.add("-Droost.terminal=false");
        words.add("-cp");
        words.add(ManagementFactory.getRuntimeMXBean().getClassPath());
        words.add(RoostCommand.class.getName());
        return words;
    }
}
