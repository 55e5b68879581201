package io.github.roost.cli;

import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.bench.report.RunPart;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs a Roost command in its own JVM, so that no benchmark is affected by an earlier one's compiled code, pinned threads or full heap. Forwards
 * its output as it arrives. Not thread-safe.
 */
final class RoostProcess {
    /** A part that takes longer than this is considered hung. */
    private static final long MAX_MINUTES = 15;

    private final PrintStream err;

    RoostProcess(PrintStream err) {
        this.err = err;
    }

    /**
     * Runs a part to its end.
     *
     * @param json output file for its JSON
     * @return an empty text, or its last line of output if it failed
     */
    String run(RunPart part, Path json) throws IOException, InterruptedException {
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
            ChildJvm.removeHook(ender);
        }
    }

    /** Replaces a word {@code NAME.json} by the file that the part of this name has written. */
    private static String leftBy(String word, Path json) {
        return word.endsWith(".json")
                ? json.resolveSibling(word.replaceFirst("json$", "raw.json")).toString()
                : word;
    }

    /** Forwards the process's output and returns its last line. */
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

    /** The command line of a Roost command in a JVM like this one, without its arguments. */
    static List<String> jvm() {
        return ChildJvm.command(RoostCommand.class);
    }
}
