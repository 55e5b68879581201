package io.github.roost.cli;

import io.github.roost.simulator.FullSizeRecorder;
import io.github.roost.simulator.TraceFile;
import io.github.roost.simulator.TraceRecorder;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadTables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Traces of the memory that a workload's searches read: loaded from a file, or recorded and saved. Stateless. */
final class KeptTraces {
    private KeptTraces() {}

    /** The file of a workload's traces, in the build folder. */
    static Path file(WorkloadSpec spec) {
        return RoostHome.folder("cli/target")
                .resolve(
                        "traces3-%s-%08x.bin".formatted(spec.name(), spec.json().hashCode()));
    }

    /** @param say receives the progress of recording */
    static Traces of(WorkloadSpec spec, Path file, Consumer<String> say) throws IOException, InterruptedException {
        if (Files.isRegularFile(file)) {
            return TraceFile.read(file, spec);
        }
        Traces traces = record(spec, say);
        TraceFile.write(file, traces);
        return traces;
    }

    private static Traces record(WorkloadSpec spec, Consumer<String> say) throws IOException, InterruptedException {
        if (spec.fullSize() != null) {
            say.accept(recording(spec.tables()));
            return new FullSizeRecorder(
                            spec, done -> say.accept("recorded table %d of %d".formatted(done, spec.tables())))
                    .record();
        }
        List<TableSpec> specs = WorkloadTables.specs(spec, RoostHome.packages());
        say.accept(recording(specs.size()));
        return new TraceRecorder(
                        spec, specs, done -> say.accept("recorded table %d of %d".formatted(done, specs.size())))
                .record();
    }

    private static String recording(int tables) {
        return "recording the reads of searches of %d tables, once per workload".formatted(tables);
    }
}
