package io.github.roost.bench.cachesim;

import io.github.roost.simulator.options.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs {@link Guest} under the emulator, with the classes of this JVM. Immutable. */
final class GuestJvm {
    private final SavedTables tables;
    private final CacheModel model;
    private final Emulator emulator;

    GuestJvm(SavedTables tables, CacheModel model) throws IOException {
        this.tables = tables;
        this.model = model;
        this.emulator = new Emulator(tables.folder());
    }

    /** What the plugin and the scheduler counted in one run. */
    record Counted(Section section, Guest.Scheduled scheduled) {}

    Counted run(GuestRun run) throws IOException, InterruptedException {
        Path told = tables.folder().resolve("scheduled");
        List<String> program = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules=jdk.incubator.vector",
                // Few threads beside the workers, and few collections, which would move what the caches hold.
                "-XX:+UseSerialGC",
                // The kernels are C; C2 would take the emulator longer than it saves.
                "-XX:TieredStopAtLevel=1",
                "-Xmn256m",
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path"),
                Guest.class.getName()));
        program.addAll(run.words());
        program.add(Integer.toString(tables.count()));
        program.add(told.toString());
        List<Section> sections = emulator.run(model, program);
        if (sections.size() != 1 || !Files.exists(told)) {
            throw new CommandFailure("the guest must count one section, got " + sections.size());
        }
        return new Counted(sections.getFirst(), Guest.Scheduled.of(Files.readString(told)));
    }
}
