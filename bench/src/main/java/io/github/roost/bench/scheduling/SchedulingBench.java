package io.github.roost.bench.scheduling;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.scheduling.Throughput.Outcome;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench scheduling}: the cost of scheduling, compared with the JDK's pools. */
@Command(
        name = "scheduling",
        description = "Cost of scheduling, compared with ForkJoinPool and a fixed pool in the same run.")
public final class SchedulingBench implements Callable<Integer> {
    private static final int REPORTING_TASK_MICROS = 1;
    private static final int REPORTING_SUBMITTERS = 2;
    /** Short, so that both kinds of tasks run under the same conditions of the machine. */
    private static final Duration REPORTING_SLICE = Duration.ofMillis(2);
    /** Many rounds, as they are short: their mean resolves one percent. */
    private static final int REPORTING_ROUNDS = 10;

    /** Unmeasured time before, for the compiler. */
    private static final int WARM_UP_SECONDS = 3;

    /** The measurements, in their order. */
    enum Section {
        START,
        THROUGHPUT,
        REPORTING
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "start,throughput,reporting",
            description = "Sections to measure; default all.")
    private Set<Section> sections = EnumSet.allOf(Section.class);

    @Option(
            names = "--task-micros",
            split = ",",
            paramLabel = "N",
            description = "CPU times per task in us; default 0,1,10,100.")
    private List<Integer> taskMicros = List.of(0, 1, 10, 100);

    @Option(
            names = "--submitters",
            split = ",",
            paramLabel = "N",
            description = "Numbers of submitting threads; default 1,2,8.")
    private List<Integer> submitters = List.of(1, 2, 8);

    private final @Mixin NumberOption rounds = NumberOption.rounds(3, 10_000);
    private final @Mixin NumberOption seconds = NumberOption.seconds(1, 1, 3_600);

    @Option(names = "--idle-tasks", paramLabel = "N", description = "Tasks submitted to idle pools; default 2000.")
    private int idleTasks = 2_000;

    private final @Mixin JsonOutput output = new JsonOutput();

    /** The results so far, by name. */
    private final Map<String, Object> figures = new LinkedHashMap<>();

    @Override
    public Integer call() throws JsonProcessingException {
        check();
        for (Section section : sections) {
            switch (section) {
                case START -> idleStart();
                case THROUGHPUT -> throughput();
                case REPORTING -> reportingCost();
            }
        }
        output.print(figures);
        return 0;
    }

    private void check() {
        taskMicros.forEach(micros -> Options.require("--task-micros", micros, 0, 100_000));
        submitters.forEach(threads -> Options.require("--submitters", threads, 1, 1_024));
        NumberOption.check(rounds, seconds);
        Options.require("--idle-tasks", idleTasks, 1, 10_000_000);
    }

    private void idleStart() {
        IdleStart bench = new IdleStart();
        output.line("from submission to start, workers asleep, us");
        output.format("%-10s %8s %8s", "", "p50", "p99");
        Map<Contender, Histogram> times = bench.run(EnumSet.allOf(Contender.class), idleTasks);
        times.forEach((contender, nanos) -> output.format(
                "%-10s %8.1f %8.1f",
                Options.name(contender), nanos.getValueAtPercentile(50) / 1e3, nanos.getValueAtPercentile(99) / 1e3));
        double share = bench.idleShareOfACore(2_000);
        output.format("idle workers of roost use %.2f %% of a core", 100 * share);
        Map<String, Latencies> starts = new LinkedHashMap<>();
        times.forEach((contender, nanos) -> starts.put(Options.name(contender), Latencies.ofNanos(nanos)));
        figures.put("idleStart", starts);
        figures.put("idleShareOfACore", share);
        output.line("");
    }

    private void throughput() {
        output.format(
                "tasks per second, median of %d rounds; in brackets min and max of roost's ratio in the same round",
                rounds.value());
        output.format(
                "%8s %10s  %12s %26s %26s  %s",
                "task us", "submitters", "roost", "fork_join", "fixed", "bytes per task: roost, fork_join, fixed");
        List<Map<String, Object>> points = new ArrayList<>();
        figures.put("throughput", points);
        for (int micros : taskMicros) {
            for (int threads : submitters) {
                List<Outcome> outcomes = new Throughput(WARM_UP_SECONDS, seconds.value())
                        .run(List.of(Contender.values()), micros, threads, rounds.value());
                points.add(point(micros, threads, outcomes));
                Outcome roost = outcomes.get(Contender.ROOST.ordinal());
                Outcome forkJoin = outcomes.get(Contender.FORK_JOIN.ordinal());
                Outcome fixed = outcomes.get(Contender.FIXED.ordinal());
                output.format(
                        "%8d %10d  %12.0f %26s %26s  %.0f, %.0f, %.0f",
                        micros,
                        threads,
                        Samples.of(roost.tasksPerSecond()).median(),
                        against(roost, forkJoin),
                        against(roost, fixed),
                        Samples.of(roost.bytesPerTask()).median(),
                        Samples.of(forkJoin.bytesPerTask()).median(),
                        Samples.of(fixed.bytesPerTask()).median());
            }
        }
        long futureBytes = Throughput.futureBytes();
        figures.put("futureBytes", futureBytes);
        output.format("of roost's bytes per task, the future, a CompletableFuture, takes %d", futureBytes);
        output.line("");
    }

    private static Map<String, Object> point(int micros, int threads, List<Outcome> outcomes) {
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("taskMicros", micros);
        point.put("submitters", threads);
        for (Contender contender : Contender.values()) {
            point.put(Options.name(contender), outcomes.get(contender.ordinal()));
        }
        return point;
    }

    private void reportingCost() {
        List<Double> ratios = new ReportingCost(REPORTING_TASK_MICROS, REPORTING_SUBMITTERS, REPORTING_SLICE)
                .run(REPORTING_ROUNDS * rounds.value());
        figures.put("monitorRatios", ratios);
        Interval mean = Interval.of(ratios);
        Samples spread = Samples.of(ratios);
        output.format(
                "throughput of tasks of %d us with traffic reports over that without, roost, %d submitters",
                REPORTING_TASK_MICROS, REPORTING_SUBMITTERS);
        output.format(
                "mean of %d rounds %.3f +- %.3f (95 %%); median %.3f, rounds %.3f to %.3f",
                ratios.size(), mean.mean(), mean.halfWidth(), spread.median(), spread.least(), spread.most());
        output.line("");
    }

    private static String against(Outcome roost, Outcome other) {
        Samples ratios = Samples.ratios(roost.tasksPerSecond(), other.tasksPerSecond());
        return String.format(
                Locale.ROOT,
                "%.0f [%.2f to %.2f]",
                Samples.of(other.tasksPerSecond()).median(),
                ratios.least(),
                ratios.most());
    }
}
