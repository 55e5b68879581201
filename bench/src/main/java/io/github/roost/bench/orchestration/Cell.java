package io.github.roost.bench.orchestration;

import io.github.roost.bench.sim.SimResult;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One cell of the matrix: all policies on one machine under one load.
 *
 * @param machine its name
 * @param domains cache domains of it
 * @param kind which indexes it serves
 * @param regime how large the tables are
 * @param drifting whether tables exchange their popularity
 * @param rate arrivals as a share of what V1 does at saturation; 0 for the closed loop that saturates
 * @param results one for each policy: the rivals and {@value #SUBJECT}
 */
public record Cell(
        String machine,
        int domains,
        Regime.Kind kind,
        String regime,
        boolean drifting,
        double rate,
        List<SimResult> results) {
    /** The policy that is to win. */
    public static final String SUBJECT = "roost";

    /** Those that it is compared with: the paper's baselines and design, and that design with a gate. */
    public static final List<String> RIVALS = List.of("v0", "v1", "v2", "v2-gated");

    /** What is compared. */
    public enum Measure {
        /** Searches per second at saturation: more is better. */
        THROUGHPUT(.99),
        /** Median latency of an open loop: less is better. */
        P50(1 / 1.05),
        /** The latency that one search in a thousand exceeds, of an open loop. */
        P999(1 / 1.05);

        private final double bar;

        Measure(double bar) {
            this.bar = bar;
        }

        /** The ratio to the best rival that must be reached, where more is better. */
        public double bar() {
            return bar;
        }

        private double of(SimResult result) {
            return switch (this) {
                case THROUGHPUT -> result.perSecond();
                case P50 -> 1 / result.latencies().p50us();
                case P999 -> 1 / result.latencies().p999us();
            };
        }
    }

    /**
     * How the subject stands against the best of its rivals in one cell.
     *
     * @param ratio above 1 where the subject is better: of throughputs as they are, of latencies turned round
     * @param best the rival
     */
    public record Standing(Cell cell, Measure measure, double ratio, SimResult best) {
        /** Whether the bar is reached. */
        public boolean wins() {
            return ratio >= measure.bar();
        }

        /** The ratio to the bar: the less, the worse. */
        double margin() {
            return ratio / measure.bar();
        }
    }

    /** What is asked of this cell: throughput where it is saturated, else both latencies. */
    public List<Standing> standings() {
        return rate == 0
                ? List.of(standing(Measure.THROUGHPUT))
                : List.of(standing(Measure.P50), standing(Measure.P999));
    }

    private Standing standing(Measure measure) {
        ToDoubleFunction<SimResult> of = measure::of;
        SimResult best = results.stream()
                .filter(result -> RIVALS.contains(result.policy()))
                .max(Comparator.comparingDouble(of))
                .orElseThrow();
        return new Standing(this, measure, measure.of(result(SUBJECT)) / measure.of(best), best);
    }

    /** What a policy did. */
    public SimResult result(String policy) {
        return results.stream()
                .filter(result -> result.policy().equals(policy))
                .findFirst()
                .orElseThrow();
    }

    /** The load, for people. */
    String load() {
        return rate == 0 ? "saturated" : "open " + rate;
    }
}
