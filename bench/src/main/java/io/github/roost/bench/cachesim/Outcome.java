package io.github.roost.bench.cachesim;

import io.github.roost.bench.cachesim.GuestJvm.Counted;
import io.github.roost.bench.cachesim.Section.L3;
import io.github.roost.bench.report.MarkdownTable;
import io.github.roost.bench.report.Numbers;
import io.github.roost.bench.report.PlotStyles;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import io.github.roost.simulator.plot.Series.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Everything that a machine and a load gave.
 *
 * @param name of both
 * @param domains of the machine
 * @param tableBytes size of all tables
 * @param searches that were counted
 * @param runs of each policy, the baseline first
 * @param simulated misses per search that the simulator expects of some of the policies, per size of the L3; empty if not asked
 */
record Outcome(
        String name,
        int domains,
        long tableBytes,
        int searches,
        Map<String, List<Counted>> runs,
        Map<String, List<Double>> simulated) {
    private static final int MIB = 1 << 20;

    /** Tables in Markdown: misses per search by the size of the L3, and what the scheduler did. */
    String text() {
        return "%s; %d MiB of tables:\n\n%s\n\n%s\n%s"
                .formatted(
                        name,
                        tableBytes / MIB,
                        misses(),
                        scheduled(),
                        simulated.isEmpty() ? "" : "\nWhat `./roost sim` expects:\n\n" + expected() + "\n");
    }

    private List<Counted> runs(String policy) {
        return runs.getOrDefault(policy, List.of());
    }

    private String baseline() {
        return runs.keySet().iterator().next();
    }

    private List<L3> sizes() {
        return runs(baseline()).getFirst().section().domains().getFirst().l3();
    }

    /** Places of the sizes, the smallest first. */
    private List<Integer> ascending() {
        List<L3> sizes = sizes();
        return IntStream.range(0, sizes.size())
                .boxed()
                .sorted(Comparator.comparingLong(size -> sizes.get(size).bytes()))
                .toList();
    }

    /** The bytes of all L3s over those of the tables. */
    private double share(int size) {
        return (double) sizes().get(size).bytes() * domains / tableBytes;
    }

    private Samples of(String policy, ToDoubleFunction<Counted> figure) {
        return Samples.of(runs(policy).stream().map(figure::applyAsDouble).toList());
    }

    private Samples misses(String policy, int size) {
        return of(policy, run -> run.section().sum(size, L3::misses) / (double) searches);
    }

    private MarkdownTable misses() {
        List<String> head = new ArrayList<>(List.of("L3s, MiB; of the tables"));
        runs.keySet().forEach(policy -> head.add(policy + ", misses/search"));
        MarkdownTable table = new MarkdownTable(head);
        for (int size : ascending()) {
            List<String> row = new ArrayList<>();
            row.add(sizeName(size));
            double baseline = misses(baseline(), size).median();
            for (String policy : runs.keySet()) {
                Samples misses = misses(policy, size);
                String ratio = policy.equals(baseline()) ? "" : "; " + Numbers.ratio(misses.median() / baseline);
                row.add(Numbers.spread(misses) + ratio);
            }
            table.row(row);
        }
        return table;
    }

    private MarkdownTable scheduled() {
        MarkdownTable table = new MarkdownTable(
                "",
                "stolen at home",
                "in another domain",
                "remaps",
                "misses/search by others' writes",
                "least to most of a domain",
                "cold",
                "ms/search",
                "pace given up");
        for (String policy : runs.keySet()) {
            Samples byDomain = Samples.of(runs(policy).stream()
                    .flatMap(run -> run.section().domains().stream())
                    .map(domain -> domain.l3().getFirst().misses() / (double) searches)
                    .toList());
            table.row(
                    policy,
                    Numbers.percent(median(policy, run -> run.scheduled().atHome() / tasks(run))),
                    Numbers.percent(median(policy, run -> run.scheduled().across() / tasks(run))),
                    Numbers.whole(median(policy, run -> run.scheduled().remaps())),
                    Numbers.whole(median(policy, run -> run.section().sum(0, L3::coherence) / (double) searches)),
                    Numbers.whole(byDomain.least()) + " to " + Numbers.whole(byDomain.most()),
                    Numbers.whole(median(policy, run -> run.section().sum(0, L3::cold) / (double) searches)),
                    Numbers.ratio(median(policy, run -> run.scheduled().micros() / 1e3 / searches)),
                    Numbers.whole(median(policy, run -> run.section().paceGivenUp())));
        }
        return table;
    }

    /** What the simulator expects, and how far its ratios to the baseline are from the counted ones. */
    private MarkdownTable expected() {
        List<String> head = new ArrayList<>(List.of("L3s, MiB; of the tables"));
        simulated.keySet().forEach(policy -> head.add(policy + ", misses/search"));
        MarkdownTable table = new MarkdownTable(head);
        for (int size : ascending()) {
            List<String> row = new ArrayList<>();
            row.add(sizeName(size));
            double baseline = simulated.getOrDefault(baseline(), List.of()).get(size);
            simulated.forEach((policy, misses) -> {
                double ratio = misses.get(size) / baseline;
                double counted =
                        misses(policy, size).median() / misses(baseline(), size).median();
                row.add(Numbers.whole(misses.get(size))
                        + (policy.equals(baseline())
                                ? ""
                                : "; %s, %s of the counted ratio"
                                        .formatted(Numbers.ratio(ratio), Numbers.ratio(ratio / counted))));
            });
            table.row(row);
        }
        return table;
    }

    private String sizeName(int size) {
        return "%d x %s; %s".formatted(domains, mib(sizes().get(size).bytes()), Numbers.ratio(share(size)));
    }

    /** A pool counts no tasks. */
    private static double tasks(Counted run) {
        return Math.max(1, run.scheduled().tasks());
    }

    private double median(String policy, ToDoubleFunction<Counted> figure) {
        return of(policy, figure).median();
    }

    private static String mib(long bytes) {
        double mib = (double) bytes / MIB;
        return mib == Math.rint(mib) ? Numbers.whole(mib) : Numbers.ratio(mib);
    }

    /** Misses per search by the part of the tables that all L3s together hold. */
    Plot plot() {
        List<Series> series = new ArrayList<>();
        for (String policy : runs.keySet()) {
            List<Point> points = ascending().stream()
                    .map(size -> Point.of(share(size), misses(policy, size).median()))
                    .toList();
            series.add(Series.marked(policy, PlotStyles.of(policy, series.size()), points));
        }
        return new Plot(
                name, Axis.logarithmic("all L3s over tables, bytes"), Axis.fromZero("misses per search"), series);
    }
}
