package io.github.roost.bench.cachesim;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.simulator.options.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs programs for x86-64 under QEMU's user mode with the plugin that models caches. Immutable. */
final class Emulator {
    private static final String QEMU = "qemu-x86_64";
    private static final String PLUGIN = "/native/linux-x86_64/libroost_cachesim.so";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final Path plugin;

    /** @param folder for the plugin and its counts; the caller deletes it */
    Emulator(Path folder) throws IOException {
        if (!isThere()) {
            throw new CommandFailure("cachesim needs an x86-64 machine with " + QEMU
                    + " (apt-get install qemu-user) and a C compiler when Roost is built, got none");
        }
        this.folder = folder;
        this.plugin = folder.resolve("plugin.so");
        try (InputStream library = Emulator.class.getResourceAsStream(PLUGIN)) {
            Files.write(plugin, library == null ? new byte[0] : library.readAllBytes());
        }
    }

    /** Whether this machine has QEMU, and this build the plugin. */
    static boolean isThere() {
        return Emulator.class.getResource(PLUGIN) != null
                && Stream.of(System.getenv("PATH").split(":"))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, QEMU)));
    }

    /** The sections that a program counted, which must end with status 0. */
    List<Section> run(CacheModel model, List<String> program) throws IOException, InterruptedException {
        Path counts = Files.createTempFile(folder, "counts", ".json");
        Path printed = folder.resolve("printed.txt");
        List<String> command =
                new ArrayList<>(List.of(QEMU, "-plugin", plugin + ",out=" + counts + "," + model.options()));
        command.addAll(program);
        toItsEnd(command, printed);
        List<Section> sections = new ArrayList<>();
        for (String line : Files.readAllLines(counts)) {
            sections.add(JSON.readValue(line, Section.class));
        }
        return sections;
    }

    /** Runs a program, which must end with status 0. */
    static void toItsEnd(List<String> command, Path printed) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            if (process.waitFor() != 0) {
                throw new CommandFailure("%s must end with status 0, got %d: %s"
                        .formatted(command.getFirst(), process.exitValue(), Files.readString(printed)));
            }
        } finally {
            process.destroyForcibly();
        }
    }
}
