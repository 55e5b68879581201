package io.github.roost.bench.sim;

import io.github.roost.bench.workload.WorkloadSpec.Index;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The paper's figures beside what simulations found, at the most domains that were simulated (Huang et al., "CCD-Level
 * and Load-Aware Thread Orchestration for In-Memory Vector ANNS on Multi-Core CPUs", 2026). Stateless.
 */
public final class PaperFigures {
    private final Index index;
    private final List<SimResult> results;
    private final List<Figure> figures = new ArrayList<>();

    private PaperFigures(Index index, List<SimResult> results) {
        this.index = index;
        this.results = results;
    }

    /**
     * What the paper says.
     *
     * @param least smallest value, 0 where it only gives a bound
     * @param most largest value
     */
    public record Range(double least, double most) {}

    /**
     * One figure.
     *
     * @param name its number in the paper and what it is of
     * @param here what was found
     * @param paper what the paper says, null where it gives no number
     * @param share whether both are shares of 1, else they are ratios
     */
    public record Figure(String name, double here, @Nullable Range paper, boolean share) {
        /** What was found, for people. */
        public String hereText() {
            return text(here);
        }

        /** What the paper says, for people; empty where it gives no number. */
        public String paperText() {
            if (paper == null) {
                return "";
            }
            if (paper.least == 0) {
                return "under " + plain(paper.most);
            }
            return paper.least == paper.most
                    ? plain(paper.most)
                    : "%.0f-%s".formatted(100 * paper.least, plain(paper.most));
        }

        /** By how much the two differ, for people. */
        public String difference() {
            if (paper == null) {
                return "";
            }
            double nearest = Math.clamp(here, paper.least, paper.most);
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

    /** Those figures for which the policies were simulated. */
    public static List<Figure> of(Index index, List<SimResult> results) {
        PaperFigures all = new PaperFigures(index, results);
        all.compare();
        return List.copyOf(all.figures);
    }

    private void compare() {
        int most = results.stream().mapToInt(SimResult::domains).max().orElse(0);
        Optional<SimResult> v0 = find("v0", most);
        Optional<SimResult> v1 = find("v1", most);
        Optional<SimResult> v2 = find("v2", most);
        boolean hnsw = index == Index.HNSW;
        if (v0.isPresent() && v2.isPresent()) {
            againstV0(v0.get(), v2.get(), hnsw);
        }
        if (v1.isPresent() && v2.isPresent()) {
            double ratio = v2.get().perSecond() / v1.get().perSecond();
            ratio("figures 14, 15: throughput of V2 over V1", ratio, hnsw ? null : new Range(1.4, 1.4));
        }
        v1.ifPresent(
                result -> share("figure 19b: steals across domains, V1", result.crossShare(), new Range(.75, .80)));
        v2.ifPresent(result -> share(
                "figure 19b: steals across domains, V2",
                result.crossShare(),
                hnsw ? new Range(0, .10) : new Range(.05, .05)));
        int least = results.stream().mapToInt(SimResult::domains).min().orElse(0);
        Optional<SimResult> first = find("v0", least);
        if (v0.isPresent() && first.isPresent() && least < most) {
            double ideal = first.get().perSecond() * most / least;
            share(
                    "figure 5: V0 of what it would be if it grew with the domains",
                    v0.get().perSecond() / ideal,
                    new Range(.82, .82));
        }
    }

    private void againstV0(SimResult v0, SimResult v2, boolean hnsw) {
        double times = hnsw ? 1.4 : 3.5;
        ratio("figures 14, 15: throughput of V2 over V0", v2.perSecond() / v0.perSecond(), new Range(times, times));
        lower("figure 16: P50 of V2 lower than V0's", v2, v0, r -> r.latencies().p50us(), new Range(.30, .50));
        lower(
                "figure 17: P999 of V2 lower than V0's",
                v2,
                v0,
                r -> r.latencies().p999us(),
                new Range(.60, .90));
        lower("figure 18: L3 miss ratio of V2 lower than V0's", v2, v0, SimResult::l3MissRatio, new Range(.06, .30));
        lower("figure 19a: stall share of V2 lower than V0's", v2, v0, SimResult::stallShare, new Range(.20, .80));
    }

    private void ratio(String name, double here, @Nullable Range paper) {
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
