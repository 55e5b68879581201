package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.workload.WorkloadSpec.Popularity;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * One assumption of a simulation, with a changed value.
 *
 * @param name of the change
 * @param traces change to the traces
 * @param machine change to the machine
 * @param tasks change to the costs of searches
 */
record Assumption(
        String name,
        UnaryOperator<Traces> traces,
        UnaryOperator<Parameters.Machine> machine,
        UnaryOperator<Parameters.Tasks> tasks) {
    /** No change. */
    static final Assumption NONE = new Assumption(
            "all as assumed", UnaryOperator.identity(), UnaryOperator.identity(), UnaryOperator.identity());

    /** Changes of everything that a figure of the paper may depend on, one at a time. */
    static List<Assumption> all() {
        return List.of(
                traces("hottest table 10 times the coldest", t -> t.with(s -> s.withTableSkew(10, s.popularity()))),
                traces(
                        "hottest table 1,000 times the coldest",
                        t -> t.with(s -> s.withTableSkew(1_000, s.popularity()))),
                traces(
                        "tables popular by Zipf's law",
                        t -> t.with(s -> s.withTableSkew(s.trafficSpan(), Popularity.ZIPF))),
                traces(
                        "tables popular by a geometric law",
                        t -> t.with(s -> s.withTableSkew(s.trafficSpan(), Popularity.GEOMETRIC))),
                traces("queries skewed by an exponent of 0.8", t -> t.with(s -> s.withQuerySkew(.8))),
                traces("queries skewed by an exponent of 1.2", t -> t.with(s -> s.withQuerySkew(1.2))),
                traces("queries skewed by an exponent of 1.6", t -> t.with(s -> s.withQuerySkew(1.6))),
                traces("queries skewed by an exponent of 2.0", t -> t.with(s -> s.withQuerySkew(2))),
                traces("tables of a quarter of the rows", t -> t.withCopies(.25)),
                machine("L3 x 0.5", m -> m.scaled(1, .5, 1, 1, 1, 1, 1)),
                machine("L3 x 2", m -> m.scaled(1, 2, 1, 1, 1, 1, 1)),
                machine("bandwidth x 0.5", m -> m.scaled(1, 1, 1, 1, .5, .5, 1)),
                machine("bandwidth x 2", m -> m.scaled(1, 1, 1, 1, 2, 2, 1)),
                machine("computing x 2", m -> m.scaled(1, 1, 1, 1, 1, 1, 2)),
                tasks("prefetching a quarter as far ahead", t -> t.scaled(1, 1, 1, .25)),
                tasks("prefetching a tenth as far ahead", t -> t.scaled(1, 1, 1, .1)),
                tasks("fork and join x 0.2", t -> t.scaled(1, 1, .2, 1)),
                tasks("merging x 0.1", t -> t.withMerging(.1)),
                traces(
                        "a quarter as many searches in flight",
                        t -> t.with(s -> s.withLoad(Math.max(1, s.inFlight() / 4), 0))),
                traces("four times as many searches in flight", t -> t.with(s -> s.withLoad(4 * s.inFlight(), 0))));
    }

    private static Assumption traces(String name, UnaryOperator<Traces> change) {
        return new Assumption(name, change, UnaryOperator.identity(), UnaryOperator.identity());
    }

    private static Assumption machine(String name, UnaryOperator<Parameters.Machine> change) {
        return new Assumption(name, UnaryOperator.identity(), change, UnaryOperator.identity());
    }

    private static Assumption tasks(String name, UnaryOperator<Parameters.Tasks> change) {
        return new Assumption(name, UnaryOperator.identity(), UnaryOperator.identity(), change);
    }
}
