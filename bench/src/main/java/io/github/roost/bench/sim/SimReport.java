package io.github.roost.bench.sim;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.bench.Samples;
import io.github.roost.bench.workload.WorkloadSpec;
import io.github.roost.bench.workload.WorkloadSpec.Index;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/**
 * Results of simulations of one workload as tables for people, the paper's figures beside them (Huang et al., 2026), and
 * as JSON.
 *
 * @param spec the workload
 * @param results by number of domains, of each the policies
 */
public record SimReport(WorkloadSpec spec, List<SimResult> results) {
    private static final JsonMapper JSON = new JsonMapper();

    public SimReport {
        results = List.copyOf(results);
    }

    /** Prints everything, line by line. */
    public void print(Consumer<String> out, boolean tables) {
        out.accept("policy        domains cores searches/s   P50 us    P99 us   P999 us  busy  L2 hit  L3 miss  stalled"
                + "  memory GB/s  steals: cross of all  remaps  moved MiB  imbalance");
        for (SimResult result : results) {
            out.accept(line(result));
        }
        List<String> comparison = comparison();
        if (!comparison.isEmpty()) {
            out.accept("");
            out.accept("%-62s %16s %26s".formatted("at the most domains", "here", "the paper"));
            comparison.forEach(out);
        }
        if (tables) {
            printTables(out);
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
                        100 * result.utilisation(),
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

    /** The paper's figures beside those of here, as far as the policies were simulated. */
    private List<String> comparison() {
        List<String> lines = new ArrayList<>();
        int most = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        Optional<SimResult> v0 = find("v0", most);
        Optional<SimResult> v1 = find("v1", most);
        Optional<SimResult> v2 = find("v2", most);
        boolean hnsw = spec.index() == Index.HNSW;
        if (v0.isPresent() && v2.isPresent()) {
            add(
                    lines,
                    "figures 14, 15: throughput of V2 over V0",
                    ratio(v2, v0, SimResult::perSecond),
                    hnsw ? "1.4" : "3.5");
            add(
                    lines,
                    "figure 16: P50 of V2 lower than V0's",
                    lower(v2, v0, r -> r.latencies().p50us()),
                    "30-50 %");
            add(
                    lines,
                    "figure 17: P999 of V2 lower than V0's",
                    lower(v2, v0, r -> r.latencies().p999us()),
                    "60-90 %");
            add(
                    lines,
                    "figure 18: L3 miss ratio of V2 lower than V0's",
                    lower(v2, v0, SimResult::l3MissRatio),
                    "6-30 %");
            add(
                    lines,
                    "figure 19a: stall share of V2 lower than V0's",
                    lower(v2, v0, SimResult::stallShare),
                    "20-80 %");
        }
        if (v1.isPresent() && v2.isPresent()) {
            add(
                    lines,
                    "figures 14, 15: throughput of V2 over V1",
                    ratio(v2, v1, SimResult::perSecond),
                    hnsw ? "" : "1.4");
        }
        v1.ifPresent(
                result -> add(lines, "figure 19b: steals across domains, V1", percent(result.crossShare()), "75-80 %"));
        v2.ifPresent(result -> add(
                lines,
                "figure 19b: steals across domains, V2",
                percent(result.crossShare()),
                hnsw ? "under 10 %" : "5 %"));
        int least = results.stream().mapToInt(SimResult::domains).min().orElse(0);
        Optional<SimResult> first = find("v0", least);
        if (v0.isPresent() && first.isPresent() && least < most) {
            double ideal = first.get().perSecond() * most / least;
            add(
                    lines,
                    "figure 5: V0 of what it would be if it grew with the domains",
                    percent(v0.get().perSecond() / ideal),
                    "82 %");
        }
        return lines;
    }

    private static void add(List<String> lines, String what, String here, String paper) {
        lines.add("%-62s %16s %26s".formatted(what, here, paper));
    }

    private Optional<SimResult> find(String policy, int domains) {
        return results.stream()
                .filter(result -> result.policy().equals(policy) && result.domains() == domains)
                .findFirst();
    }

    private static String ratio(Optional<SimResult> a, Optional<SimResult> b, ToDoubleFunction<SimResult> figure) {
        return String.format(
                Locale.ROOT, "%.2f", figure.applyAsDouble(a.orElseThrow()) / figure.applyAsDouble(b.orElseThrow()));
    }

    private static String lower(Optional<SimResult> a, Optional<SimResult> b, ToDoubleFunction<SimResult> figure) {
        return percent(1 - figure.applyAsDouble(a.orElseThrow()) / figure.applyAsDouble(b.orElseThrow()));
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private void printTables(Consumer<String> out) {
        int most = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        List<SimResult> shown =
                results.stream().filter(result -> result.domains() == most).toList();
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

    /**
     * Prints what happened over time, at the most domains, a line for every so many windows.
     *
     * @param windows how many, at least 1
     */
    public void printTimeline(Consumer<String> out, int windows) {
        int most = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        results.stream()
                .filter(result -> result.domains() == most)
                .forEach(result -> printTimeline(out, result, windows));
        out.accept("");
        out.accept(
                "The paper's figure 20 shows 1,000 windows of 10 s, remaps among them; imbalance is the largest load of a"
                        + " domain over the mean.");
    }

    private static void printTimeline(Consumer<String> out, SimResult result, int every) {
        out.accept("");
        out.accept("%-20s %10s %10s %8s %7s"
                .formatted(result.policy() + ", windows", "searches/s", "imbalance", "L3 miss", "remaps"));
        List<SimResult.Window> all = result.windows();
        long before = 0;
        for (int from = 0; from < all.size(); from += every) {
            List<SimResult.Window> row = all.subList(from, Math.min(all.size(), from + every));
            long remaps = row.getLast().remaps();
            out.accept("%5d-%-14d %10.0f %10.2f %7.1f%% %7d"
                    .formatted(
                            from + 1,
                            from + row.size(),
                            Samples.of(row.stream()
                                            .map(SimResult.Window::perSecond)
                                            .toList())
                                    .median(),
                            Samples.of(row.stream()
                                            .map(SimResult.Window::imbalance)
                                            .toList())
                                    .median(),
                            100
                                    * Samples.of(row.stream()
                                                    .map(SimResult.Window::l3MissRatio)
                                                    .toList())
                                            .median(),
                            remaps - before));
            before = remaps;
        }
    }

    /**
     * Prints what becomes of the policies' throughput when an assumption is varied.
     *
     * @param names of the variants
     * @param policies simulated for each
     * @param results of each variant all policies
     */
    public static void printSensitivity(
            Consumer<String> out, List<String> names, List<Policy> policies, List<SimResult> results) {
        out.accept("");
        StringBuilder head = new StringBuilder("%-28s".formatted("searches/s where"));
        policies.forEach(policy -> head.append("%14s".formatted(policy.name())));
        out.accept(head + "   last over first");
        for (int variant = 0; variant < names.size(); variant++) {
            StringBuilder line = new StringBuilder("%-28s".formatted(names.get(variant)));
            List<SimResult> row = results.subList(variant * policies.size(), (variant + 1) * policies.size());
            row.forEach(result -> line.append("%14.0f".formatted(result.perSecond())));
            out.accept(line
                    + "%18.2f"
                            .formatted(
                                    row.getLast().perSecond() / row.getFirst().perSecond()));
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
