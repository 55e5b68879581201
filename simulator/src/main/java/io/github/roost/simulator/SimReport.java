package io.github.roost.simulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.simulator.PaperFigures.Figure;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The results of simulations of one workload, as tables for people, with the paper's figures (Huang et al., 2026), and
 * as JSON.
 *
 * @param spec the workload
 * @param results by number of domains, then by policy
 * @param sensitivity the policies' results when an assumption is varied; empty if not asked for
 */
public record SimReport(WorkloadSpec spec, List<SimResult> results, List<Variant> sensitivity) {
    private static final JsonMapper JSON = new JsonMapper();

    public SimReport {
        results = List.copyOf(results);
        sensitivity = List.copyOf(sensitivity);
    }

    /**
     * The policies' results when one assumption is varied.
     *
     * @param assumption its name and factor
     * @param results one per policy
     */
    public record Variant(String assumption, List<SimResult> results) {}

    /** Prints the report line by line; {@code tables} adds the latencies of each table. */
    public void print(Consumer<String> out, boolean tables) {
        out.accept("policy        domains cores searches/s   P50 us    P99 us   P999 us  busy  L2 hit  L3 miss  stalled"
                + "  memory GB/s  steals: cross of all  remaps  moved MiB  imbalance");
        for (SimResult result : results) {
            out.accept(line(result));
        }
        List<Figure> figures = PaperFigures.of(spec.index(), results);
        if (!figures.isEmpty()) {
            out.accept("");
            out.accept("%-62s %16s %16s %16s".formatted("at the most domains", "here", "the paper", "difference"));
            figures.forEach(figure -> out.accept("%-62s %16s %16s %16s"
                    .formatted(figure.name(), figure.hereText(), figure.paperText(), figure.difference())));
        }
        if (tables) {
            printTables(out);
        }
        if (!sensitivity.isEmpty()) {
            printSensitivity(out);
        }
    }

    private static String line(SimResult result) {
        long steals = result.intraSteals() + result.crossSteals();
        return "%-13s %7d %5d %10.0f %8.0f %9.0f %9.0f %4.0f%% %6.1f%% %7.1f%% %7.1f%% %12.1f %12s of %7d %7d %10.0f %10.2f"
                .formatted(
                        result.policy(),
                        result.domains(),
                        result.cores(),
                        result.perSecond(),
                        result.latencies().p50us(),
                        result.latencies().p99us(),
                        result.latencies().p999us(),
                        100 * result.utilization(),
                        100 * result.l2HitRatio(),
                        100 * result.l3MissRatio(),
                        100 * result.stallShare(),
                        result.dramGBs(),
                        String.format(Locale.ROOT, "%.1f%%", 100 * result.crossShare()),
                        steals,
                        result.remaps(),
                        result.movedMib(),
                        result.medianImbalance());
    }

    private void printTables(Consumer<String> out) {
        int max = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        List<SimResult> shown =
                results.stream().filter(result -> result.domains() == max).toList();
        out.accept("");
        StringBuilder head = new StringBuilder("%-12s".formatted("table"));
        shown.forEach(result -> head.append("%22s".formatted(result.policy() + " P50, P999 us")));
        out.accept(head.toString());
        for (int table = 0; table < shown.getFirst().tables().size(); table++) {
            StringBuilder line = new StringBuilder(
                    "%-12s".formatted(shown.getFirst().tables().get(table).name()));
            for (SimResult result : shown) {
                var latencies = result.tables().get(table).latencies();
                line.append("%12.0f %9.0f".formatted(latencies.p50us(), latencies.p999us()));
            }
            out.accept(line.toString());
        }
    }

    private void printSensitivity(Consumer<String> out) {
        out.accept("");
        StringBuilder head = new StringBuilder("%-28s".formatted("searches/s where"));
        sensitivity.getFirst().results().forEach(result -> head.append("%14s".formatted(result.policy())));
        out.accept(head + "   last over first");
        for (Variant variant : sensitivity) {
            StringBuilder line = new StringBuilder("%-28s".formatted(variant.assumption()));
            variant.results().forEach(result -> line.append("%14.0f".formatted(result.perSecond())));
            out.accept(line
                    + "%18.2f"
                            .formatted(variant.results().getLast().perSecond()
                                    / variant.results().getFirst().perSecond()));
        }
    }

    /** The report as JSON. */
    public String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
