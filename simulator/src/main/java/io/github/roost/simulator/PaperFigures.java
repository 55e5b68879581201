package io.github.roost.simulator;

import io.github.roost.simulator.workload.WorkloadSpec.Index;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Compares the paper's figures with simulation results, at the max number of simulated domains (Huang et al., "CCD-Level and Load-Aware Thread
 * Orchestration for In-Memory Vector ANNS on Multi-Core CPUs", 2026). The numbers come from the paper's text and from the article about it, for a
 * Genoa with 12 domains; a figure that has values only in its plot has no number here. Stateless.
 */
public final class PaperFigures {
    /** Cores of the machine whose throughputs the paper gives. */
    private static final int CORES = 96;

    private final Index index;
    private final List<SimResult> results;
    private final List<Figure> figures = new ArrayList<>();

    private PaperFigures(Index index, List<SimResult> results) {
        this.index = index;
        this.results = results;
    }

    /**
     * A value or range given by the paper.
     *
     * @param min the minimum, 0 if the paper only gives an upper bound
     * @param max the maximum
     */
    public record Range(double min, double max) {}

    /**
     * One figure.
     *
     * @param name its number in the paper and its quantity
     * @param here the simulated value
     * @param paper the paper's value, null if it gives no number
     * @param share whether the values are shares of 1; else they are ratios
     */
    public record Figure(String name, double here, @Nullable Range paper, boolean share) {
        /** The simulated value, for people. */
        public String hereText() {
            return text(here);
        }

        /** The paper's value, for people; empty if it gives no number. */
        public String paperText() {
            if (paper == null) {
                return "";
            }
            if (paper.min == 0) {
                return "under " + plain(paper.max);
            }
            return paper.min == paper.max ? plain(paper.max) : "%.0f-%s".formatted(100 * paper.min, plain(paper.max));
        }

        /** The distance of the two: 0 if they agree, else the absolute logarithm of their ratio, or for shares the absolute difference. */
        public double distance() {
            if (paper == null) {
                return 0;
            }
            double nearest = Math.clamp(here, paper.min, paper.max);
            return share || here <= 0 ? Math.abs(here - nearest) : Math.abs(Math.log(here / nearest));
        }

        /** The difference of the two, for people. */
        public String difference() {
            if (paper == null) {
                return "";
            }
            double nearest = Math.clamp(here, paper.min, paper.max);
            if (nearest == here) {
                return "agrees";
            }
            return share
                    ? String.format(Locale.ROOT, "%+.1f points", 100 * (here - nearest))
                    : String.format(Locale.ROOT, "%+.0f %%", 100 * (here / nearest - 1));
        }

        private String text(double value) {
            return share
                    ? String.format(Locale.ROOT, "%.1f %%", 100 * value)
                    : String.format(Locale.ROOT, "%.2f", value);
        }

        private String plain(double value) {
            return share
                    ? String.format(Locale.ROOT, "%.0f %%", 100 * value)
                    : String.format(Locale.ROOT, "%.1f", value);
        }
    }

    /** The figures for which the needed policies were simulated. */
    public static List<Figure> of(Index index, List<SimResult> results) {
        PaperFigures all = new PaperFigures(index, results);
        all.compare();
        return List.copyOf(all.figures);
    }

    private void compare() {
        int max = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        Optional<SimResult> v0 = find("v0", max);
        Optional<SimResult> v1 = find("v1", max);
        Optional<SimResult> v2 = find("v2", max);
        boolean hnsw = index == Index.HNSW;
        scaling(v0, max, hnsw);
        v0.ifPresent(result -> thousands("V0", result, hnsw ? 70 : 10));
        v1.ifPresent(result -> thousands("V1", result, hnsw ? 70 : 25));
        v2.ifPresent(result -> thousands("V2", result, hnsw ? 100 : 35));
        if (v1.isPresent() && v2.isPresent()) {
            double times = hnsw ? 100. / 70 : 35. / 25;
            double ratio = v2.get().perSecond() / v1.get().perSecond();
            ratio("figures 14, 15: throughput of V2 over V1", ratio, new Range(times, times));
        }
        if (v0.isPresent() && v2.isPresent()) {
            againstV0(v0.get(), v2.get(), hnsw);
        }
        double crossing = hnsw ? .75 : .80;
        v1.ifPresent(result ->
                share("figure 19b: steals across domains, V1", result.crossShare(), new Range(crossing, crossing)));
        v2.ifPresent(result -> share(
                "figure 19b: steals across domains, V2",
                result.crossShare(),
                hnsw ? new Range(0, .10) : new Range(.05, .05)));
    }

    private void scaling(Optional<SimResult> v0, int max, boolean hnsw) {
        int min = results.stream().mapToInt(SimResult::domains).min().orElse(0);
        Optional<SimResult> first = find("v0", min);
        if (v0.isPresent() && first.isPresent() && min < max) {
            double ideal = first.get().perSecond() * max / min;
            double share = hnsw ? .82 : 2.8 / 12;
            share(
                    "figure 5: V0 as a share of linear scaling with the domains",
                    v0.get().perSecond() / ideal,
                    new Range(share, share));
        }
    }

    private void thousands(String policy, SimResult result, double paper) {
        if (result.cores() == CORES) {
            ratio(
                    "figures 14, 15: thousand searches/s, " + policy,
                    result.perSecond() / 1_000,
                    new Range(paper, paper));
        }
    }

    private void againstV0(SimResult v0, SimResult v2, boolean hnsw) {
        double times = hnsw ? 100. / 70 : 3.5;
        ratio("figures 14, 15: throughput of V2 over V0", v2.perSecond() / v0.perSecond(), new Range(times, times));
        lower("figure 16: P50 of V2 lower than V0's", v2, v0, r -> r.latencies().p50us(), new Range(.30, .50));
        lower(
                "figure 17: P999 of V2 lower than V0's",
                v2,
                v0,
                r -> r.latencies().p999us(),
                new Range(.60, .90));
        lower(
                "figure 18: L3 miss ratio of V2 lower than V0's",
                v2,
                v0,
                SimResult::l3MissRatio,
                hnsw ? new Range(.06, .15) : new Range(.15, .30));
        lower(
                "figure 19a: stall share of V2 lower than V0's",
                v2,
                v0,
                SimResult::stallShare,
                hnsw ? new Range(.20, .40) : new Range(.40, .80));
    }

    private void ratio(String name, double here, Range paper) {
        figures.add(new Figure(name, here, paper, false));
    }

    private void share(String name, double here, Range paper) {
        figures.add(new Figure(name, here, paper, true));
    }

    private void lower(String name, SimResult v2, SimResult v0, ToDoubleFunction<SimResult> of, Range paper) {
        share(name, 1 - of.applyAsDouble(v2) / of.applyAsDouble(v0), paper);
    }

    private Optional<SimResult> find(String policy, int domains) {
        return results.stream()
                .filter(result -> result.policy().equals(policy) && result.domains() == domains)
                .findFirst();
    }
}
