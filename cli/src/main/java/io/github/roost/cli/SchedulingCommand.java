package io.github.roost.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.scheduling.CallerThreads;
import io.github.roost.bench.scheduling.Contender;
import io.github.roost.bench.scheduling.IdleStart;
import io.github.roost.bench.scheduling.ReportingCost;
import io.github.roost.bench.scheduling.Throughput;
import io.github.roost.bench.scheduling.Throughput.Outcome;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench scheduling}: the cost of scheduling, compared with the JDK's pools. */
@Command(
        name = "scheduling",
        description = "Cost of scheduling, compared with ForkJoinPool and a fixed pool in the same run.")
final class SchedulingCommand implements Callable<Integer> {
    private static final int REPORTING_TASK_MICROS = 1;
    private static final int REPORTING_SUBMITTERS = 2;
    /** Short, so that both kinds of tasks run under the same conditions of the machine. */
    private static final Duration REPORTING_SLICE = Duration.ofMillis(2);
    /** Many rounds, as they are short: their mean resolves one percent. */
    private static final int REPORTING_ROUNDS = 10;

    @Mixin
    private final HelpOption help = new HelpOption();

    /** The measurements, in their order. */
    enum Section {
        START,
        THROUGHPUT,
        REPORTING,
        THREADS
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "start,throughput,reporting,threads",
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

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds of all contenders; default 3. The cost of reporting takes ten times as many short rounds.")
    private int rounds = 3;

    @Option(names = "--seconds", paramLabel = "N", description = "Measured time per contender and round; default 1.")
    private int seconds = 1;

    @Option(
            names = "--warm-up-seconds",
            paramLabel = "N",
            description = "Unmeasured time before, for the compiler; default 3.")
    private int warmUpSeconds = 3;

    @Option(names = "--idle-tasks", paramLabel = "N", description = "Tasks submitted to idle pools; default 2000.")
    private int idleTasks = 2_000;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the tables in section threads; default 20000.")
    private int rows = 20_000;

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per kind of threads and round; default 500.")
    private int sliceMillis = 500;

    @Mixin
    private final JsonOption json;

    /** The results so far, by name. */
    private final Map<String, Object> figures = new LinkedHashMap<>();

    SchedulingCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException, InterruptedException {
        check();
        for (Section section : sections) {
            switch (section) {
                case START -> idleStart();
                case THROUGHPUT -> throughput();
                case REPORTING -> reportingCost();
                case THREADS -> callerThreads();
            }
        }
        json.print(figures);
        return 0;
    }

    private void check() {
        taskMicros.forEach(micros -> BenchCommand.require("--task-micros", micros, 0, 100_000));
        submitters.forEach(threads -> BenchCommand.require("--submitters", threads, 1, 1_024));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--seconds", seconds, 1, 3_600);
        BenchCommand.require("--warm-up-seconds", warmUpSeconds, 1, 3_600);
        BenchCommand.require("--idle-tasks", idleTasks, 1, 10_000_000);
        BenchCommand.require("--rows", rows, 100, 10_000_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    private void idleStart() {
        IdleStart bench = new IdleStart();
        print("from submission to start, workers asleep, us");
        print("%-10s %8s %8s".formatted("", "p50", "p99"));
        Map<Contender, Histogram> times = bench.run(EnumSet.allOf(Contender.class), idleTasks);
        times.forEach((contender, nanos) -> print("%-10s %8.1f %8.1f"
                .formatted(
                        name(contender), nanos.getValueAtPercentile(50) / 1e3, nanos.getValueAtPercentile(99) / 1e3)));
        double share = bench.idleShareOfACore(2_000);
        print("idle workers of roost use %.2f %% of a core".formatted(100 * share));
        Map<String, Latencies> starts = new LinkedHashMap<>();
        times.forEach((contender, nanos) -> starts.put(name(contender), Latencies.ofNanos(nanos)));
        figures.put("idleStart", starts);
        figures.put("idleShareOfACore", share);
        print("");
    }

    private void throughput() {
        print("tasks per second, median of %d rounds; in brackets min and max of roost's ratio in the same round"
                .formatted(rounds));
        print("%8s %10s  %12s %26s %26s  %s"
                .formatted(
                        "task us",
                        "submitters",
                        "roost",
                        "fork_join",
                        "fixed",
                        "bytes per task: roost, fork_join, fixed"));
        List<Map<String, Object>> points = new ArrayList<>();
        figures.put("throughput", points);
        for (int micros : taskMicros) {
            for (int threads : submitters) {
                List<Outcome> outcomes = bench().run(List.of(Contender.values()), micros, threads, rounds);
                points.add(point(micros, threads, outcomes));
                Outcome roost = outcomes.get(Contender.ROOST.ordinal());
                Outcome forkJoin = outcomes.get(Contender.FORK_JOIN.ordinal());
                Outcome fixed = outcomes.get(Contender.FIXED.ordinal());
                print("%8d %10d  %12.0f %26s %26s  %.0f, %.0f, %.0f"
                        .formatted(
                                micros,
                                threads,
                                Samples.of(roost.tasksPerSecond()).median(),
                                against(roost, forkJoin),
                                against(roost, fixed),
                                Samples.of(roost.bytesPerTask()).median(),
                                Samples.of(forkJoin.bytesPerTask()).median(),
                                Samples.of(fixed.bytesPerTask()).median()));
            }
        }
        long futureBytes = Throughput.futureBytes();
        figures.put("futureBytes", futureBytes);
        print("of roost's bytes per task, the future, a CompletableFuture, takes %d".formatted(futureBytes));
        print("");
    }

    private static Map<String, Object> point(int micros, int threads, List<Outcome> outcomes) {
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("taskMicros", micros);
        point.put("submitters", threads);
        for (Contender contender : Contender.values()) {
            point.put(name(contender), outcomes.get(contender.ordinal()));
        }
        return point;
    }

    private void reportingCost() {
        List<Double> ratios = new ReportingCost(REPORTING_TASK_MICROS, REPORTING_SUBMITTERS, REPORTING_SLICE)
                .run(REPORTING_ROUNDS * rounds);
        figures.put("monitorRatios", ratios);
        Interval mean = Interval.of(ratios);
        Samples spread = Samples.of(ratios);
        print("throughput of tasks of %d us with traffic reports over that without, roost, %d submitters"
                .formatted(REPORTING_TASK_MICROS, REPORTING_SUBMITTERS));
        print("mean of %d rounds %.3f +- %.3f (95 %%); median %.3f, rounds %.3f to %.3f"
                .formatted(
                        ratios.size(), mean.mean(), mean.halfWidth(), spread.median(), spread.least(), spread.most()));
        print("");
    }

    private void callerThreads() throws InterruptedException {
        print("searches of %d rows, from one virtual thread per search and from %d platform threads"
                .formatted(rows, CallerThreads.IN_FLIGHT));
        print("%-5s %-9s %34s %24s %12s %22s"
                .formatted(
                        "",
                        "threads",
                        "searches/s (min to max)",
                        "ratio to platform",
                        "collections",
                        "off-heap B per search"));
        Map<String, Map<String, CallerThreads.Outcome>> indexes = new LinkedHashMap<>();
        figures.put("callerThreads", indexes);
        try (CallerThreads bench = new CallerThreads(TopologyReader.live().read(), rows)) {
            for (CallerThreads.Index index : CallerThreads.Index.values()) {
                Map<CallerThreads.Kind, CallerThreads.Outcome> outcomes =
                        bench.run(index, rounds, Duration.ofMillis(sliceMillis));
                CallerThreads.Outcome platform = outcomes.get(CallerThreads.Kind.PLATFORM);
                Map<String, CallerThreads.Outcome> kinds = new LinkedHashMap<>();
                indexes.put(name(index), kinds);
                outcomes.forEach((kind, outcome) -> {
                    kinds.put(name(kind), outcome);
                    print(callerThreads(name(index), name(kind), outcome, Objects.requireNonNull(platform)));
                });
            }
        }
        print("");
    }

    private static String callerThreads(
            String index, String kind, CallerThreads.Outcome outcome, CallerThreads.Outcome platform) {
        Samples rate = Samples.of(outcome.perSecond());
        Samples ratio = Samples.of(IntStream.range(0, outcome.perSecond().size())
                .mapToObj(round ->
                        outcome.perSecond().get(round) / platform.perSecond().get(round))
                .toList());
        return "%-5s %-9s %34s %24s %12s %22.0f"
                .formatted(
                        index,
                        kind,
                        "%.0f (%.0f to %.0f)".formatted(rate.median(), rate.least(), rate.most()),
                        "%.2f (%.2f to %.2f)".formatted(ratio.median(), ratio.least(), ratio.most()),
                        "%d, %.1f/M".formatted(outcome.collections(), outcome.collectionsPerMillion()),
                        outcome.offHeapBytesPerSearch());
    }

    private Throughput bench() {
        return new Throughput(warmUpSeconds, seconds);
    }

    private static String against(Outcome roost, Outcome other) {
        List<Double> ratios = IntStream.range(0, other.tasksPerSecond().size())
                .mapToObj(round -> roost.tasksPerSecond().get(round)
                        / other.tasksPerSecond().get(round))
                .toList();
        return String.format(
                Locale.ROOT,
                "%.0f [%.2f to %.2f]",
                Samples.of(other.tasksPerSecond()).median(),
                Samples.of(ratios).least(),
                Samples.of(ratios).most());
    }

    private static String name(Enum<?> contender) {
        return contender.name().toLowerCase(Locale.ROOT);
    }

    private void print(String line) {
        json.line(line);
    }
}
