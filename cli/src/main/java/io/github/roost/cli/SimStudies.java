package io.github.roost.cli;

import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.orchestration.Cell;
import io.github.roost.simulator.orchestration.Figures;
import io.github.roost.simulator.orchestration.Matrix;
import io.github.roost.simulator.orchestration.MatrixReport;
import io.github.roost.simulator.orchestration.Regime;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Implements {@code roost sim --matrix} and {@code --figures}, with the tables of both regimes. */
final class SimStudies {
    /** Small tables that are recorded in seconds, to check that the command works. */
    private static final int QUICK_ROWS = 1_500;

    private static final int QUICK_TARGETS = 8;
    private static final int QUICK_MIB = 8;

    private final Parameters parameters;
    private final List<String> regimes;
    private final boolean quick;
    private final Consumer<String> out;
    private final Consumer<String> progress;

    SimStudies(
            Parameters parameters,
            List<String> regimes,
            boolean quick,
            Consumer<String> out,
            Consumer<String> progress) {
        this.parameters = parameters;
        this.regimes = regimes;
        this.quick = quick;
        this.out = out;
        this.progress = progress;
    }

    private Regime regime(String name) throws IOException, InterruptedException {
        String prefix = name.equals("paper") ? "paper-" : "";
        return new Regime(name, traces(prefix + "hnsw"), traces(prefix + "ivf"));
    }

    private Traces traces(String workload) throws IOException, InterruptedException {
        WorkloadSpec spec = WorkloadSpec.load(workload);
        if (quick) {
            spec = spec.withRecorded(QUICK_ROWS, QUICK_TARGETS).withBudgetMib(QUICK_MIB);
        }
        return KeptTraces.of(spec, KeptTraces.file(spec), progress);
    }

    List<Regime> regimes() throws IOException, InterruptedException {
        List<Regime> all = new ArrayList<>();
        for (String name : regimes) {
            all.add(regime(name));
        }
        return all;
    }

    /** Simulates all cells and prints them, worst first. */
    void matrix(long searches, int sample, int rows, @Nullable Path json) throws IOException, InterruptedException {
        try (OutputFile file = json == null ? null : OutputFile.prepare("--json", json)) {
            long began = System.nanoTime();
            Matrix.Extent extent = quick ? Matrix.Extent.quick() : Matrix.Extent.whole(searches, sample);
            Matrix matrix = new Matrix(parameters, regimes(), extent);
            progress.accept("simulating the cells of the matrix");
            List<Cell> cells = matrix.run(this::done);
            MatrixReport report = new MatrixReport(cells);
            report.print(out, rows);
            progress.accept("%,d cells of %d policies in %,d s"
                    .formatted(cells.size(), Cell.RIVALS.size() + 1, (System.nanoTime() - began) / 1_000_000_000));
            if (file != null) {
                file.write(path -> Files.writeString(path, report.json(), StandardCharsets.UTF_8));
            }
        }
    }

    /** Simulates the paper's figures, writes them as a page, and prints the comparisons. */
    void figures(long searches, int sample, Path page) throws IOException, InterruptedException {
        try (OutputFile file = OutputFile.prepare("--out", page)) {
            long began = System.nanoTime();
            Figures.Extent extent = quick ? Figures.Extent.quick() : Figures.Extent.whole(searches, sample);
            String command = "./roost sim --figures" + (quick ? " --quick" : "") + " --searches " + searches
                    + " --sample " + sample;
            List<Regime> recorded = regimes();
            progress.accept("simulating the figures");
            Figures.Report report = Figures.report(parameters, recorded, extent, command);
            file.write(path -> Files.writeString(path, report.html(), StandardCharsets.UTF_8));
            report.lines().forEach(out);
            out.accept("");
            out.accept("all figures: " + page);
            progress.accept("in %,d s".formatted((System.nanoTime() - began) / 1_000_000_000));
        }
    }

    private void done(List<Cell> group) {
        Cell first = group.getFirst();
        progress.accept("simulated %s of %d domains, %s, %s%s"
                .formatted(
                        first.machine(),
                        first.domains(),
                        first.kind().name().toLowerCase(Locale.ROOT),
                        first.regime(),
                        first.drifting() ? ", drifting" : ""));
    }
}
