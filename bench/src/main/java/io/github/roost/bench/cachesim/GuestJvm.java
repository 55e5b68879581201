package io.github.roost.bench.cachesim;

import io.github.roost.simulator.options.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs {@link Guest} under the emulator, with the classes of this JVM. Immutable. */
final class GuestJvm {
    /** Runs at full speed; the fastest counts, since the others had interruptions. */
    private static final int ROUNDS = 3;

    private final SavedTables tables;
    private final CacheModel model;
    private final Emulator emulator;
    /** Where a guest writes what its scheduler did. */
    private final Path told;

    GuestJvm(SavedTables tables, CacheModel model) throws IOException {
        this.tables = tables;
        this.model = model;
        this.emulator = new Emulator(tables.folder());
        this.told = tables.folder().resolve("scheduled");
    }

    /** What the plugin and the scheduler counted in one run. */
    record Counted(Section section, Guest.Scheduled scheduled) {}

    Counted run(GuestRun run) throws IOException, InterruptedException {
        Files.deleteIfExists(told);
        List<Section> sections = emulator.run(model, program(run));
        if (sections.size() != 1 || !Files.exists(told)) {
            throw new CommandFailure("the guest must count one section, got " + sections.size());
        }
        return new Counted(sections.getFirst(), scheduled());
    }

    /**
     * How slow a guest is.
     *
     * @param factor how many times as long a task takes as on a machine with a core for each worker
     * @param microsPerSearch of the guest
     */
    record Pace(double factor, double microsPerSearch) {}

    /**
     * Measures how slow a guest is.
     *
     * @param few a short run, for the guest
     * @param many a run of the same kind, at full speed
     */
    Pace pace(GuestRun few, GuestRun many) throws IOException, InterruptedException {
        double guest = microsPerSearch(few, run(few).scheduled());
        double here = Double.POSITIVE_INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            Emulator.toItsEnd(program(many), tables.folder().resolve("printed.txt"));
            here = Math.min(here, microsPerSearch(many, scheduled()));
        }
        int workers = many.domains() * many.workers();
        // Workers without a core of their own take turns at full speed too.
        double turns = Math.max(1, (double) workers / Runtime.getRuntime().availableProcessors());
        return new Pace(turns * guest / here, guest);
    }

    private static double microsPerSearch(GuestRun run, Guest.Scheduled scheduled) {
        return Math.max(1, scheduled.micros()) / (double) run.searches();
    }

    private Guest.Scheduled scheduled() throws IOException {
        return Guest.Scheduled.of(Files.readString(told));
    }

    private List<String> program(GuestRun run) {
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
        return program;
    }
}
