package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.SimResult;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One cell of the matrix: all policies on one machine under one load.
 *
 * @param machine its name
 * @param domains its cache domains
 * @param kind of indexes it serves
 * @param regime size of the tables
 * @param drifting whether tables swap their popularity
 * @param rate arrivals as a share of V1's saturated throughput; 0 for the saturating closed loop
 * @param results one per policy: the rivals and {@value #SUBJECT}
 */
public record Cell(
        String machine,
        int domains,
        Regime.Kind kind,
        String regime,
        boolean drifting,
        double rate,
        List<SimResult> results) {
    /** The policy that is compared with the rivals. */
    public static final String SUBJECT = "roost";

    /** The rivals: the paper's baselines and design, and that design with a gate. */
    public static final List<String> RIVALS = List.of("v0", "v1", "v2", "v2-gated");

    /** The compared quantity. */
    public enum Measure {
        /** Searches per second at saturation: higher is better. */
        THROUGHPUT(.99),
        /** Median latency of an open loop: lower is better. */
        P50(1 / 1.05),
        /** 99.9th percentile of the latency of an open loop: lower is better. */
        P999(1 / 1.05);

        private final double bar;

        Measure(double bar) {
            this.bar = bar;
        }

        /** The min ratio to the best rival that counts as a win, where higher is better. */
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
     * The subject compared with the best of its rivals in one cell.
     *
     * @param ratio above 1 if the subject is better: of throughputs directly, of latencies inverted
     * @param best the rival
     */
    public record Standing(Cell cell, Measure measure, double ratio, SimResult best) {
        /** Whether the ratio reaches the bar. */
        public boolean wins() {
            return ratio >= measure.bar();
        }

        /** The ratio over the bar: lower is worse. */
        double margin() {
            return ratio / measure.bar();
        }
    }

    /** The comparisons of this cell: throughput if it is saturated, else both latencies. */
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

    /** The result of a policy. */
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
