package io.github.roost.examples.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.Latencies;
import io.github.roost.bench.Samples;
import io.github.roost.bench.scheduling.Contender;
import io.github.roost.bench.scheduling.IdleStart;
import io.github.roost.bench.scheduling.Throughput;
import io.github.roost.bench.scheduling.Throughput.Outcome;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench scheduling}: what scheduling costs, with the JDK's pools beside it. */
@Command(
        name = "scheduling",
        description = "What scheduling costs, with ForkJoinPool and a fixed pool beside it in the same run.")
final class SchedulingCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--task-micros",
            split = ",",
            paramLabel = "N",
            description = "CPU times of a task in us; default 0,1,10,100.")
    private List<Integer> taskMicros = List.of(0, 1, 10, 100);

    @Option(
            names = "--submitters",
            split = ",",
            paramLabel = "N",
            description = "Numbers of submitting threads; default 1,2,8.")
    private List<Integer> submitters = List.of(1, 2, 8);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all contenders; default 3.")
    private int rounds = 3;

    @Option(names = "--seconds", paramLabel = "N", description = "Measured time of each in a round; default 1.")
    private int seconds = 1;

    @Option(names = "--idle-tasks", paramLabel = "N", description = "Tasks submitted to idle pools; default 2000.")
    private int idleTasks = 2_000;

    @Mixin
    private final JsonOption json;

    /** The figures so far, by what they are of. */
    private final Map<String, Object> figures = new LinkedHashMap<>();

    SchedulingCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException {
        check();
        idleStart();
        throughput();
        monitorCost();
        json.print(figures);
        return 0;
    }

    private void check() {
        taskMicros.forEach(micros -> BenchCommand.require("--task-micros", micros, 0, 100_000));
        submitters.forEach(threads -> BenchCommand.require("--submitters", threads, 1, 1_024));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--seconds", seconds, 1, 3_600);
        BenchCommand.require("--idle-tasks", idleTasks, 1, 10_000_000);
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
        print("tasks a second, median of %d rounds; in brackets roost's ratio of the same round: least to most"
                .formatted(rounds));
        print("%8s %10s  %12s %26s %26s  %s"
                .formatted(
                        "task us",
                        "submitters",
                        "roost",
                        "fork_join",
                        "fixed",
                        "bytes a task: roost, fork_join, fixed"));
        List<Map<String, Object>> points = new ArrayList<>();
        figures.put("throughput", points);
        for (int micros : taskMicros) {
            for (int threads : submitters) {
                List<Outcome> outcomes = bench().run(List.of(Contender.values()), micros, threads, true, rounds);
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

    private void monitorCost() {
        print("tasks of 1 us that report traffic against such that do not, roost, 2 submitters");
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < 2 * rounds; round++) {
            boolean touchingFirst = round % 2 == 0;
            double first = rate(touchingFirst);
            double second = rate(!touchingFirst);
            ratios.add(touchingFirst ? first / second : second / first);
        }
        figures.put("monitorRatios", ratios);
        print("throughput ratio median %.3f (%.3f to %.3f)"
                .formatted(
                        Samples.of(ratios).median(),
                        Samples.of(ratios).least(),
                        Samples.of(ratios).most()));
    }

    private double rate(boolean touching) {
        return Samples.of(bench().run(List.of(Contender.ROOST), 1, 2, touching, 1)
                        .getFirst()
                        .tasksPerSecond())
                .median();
    }

    private Throughput bench() {
        return new Throughput(1, seconds);
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

    private static String name(Contender contender) {
        return contender.name().toLowerCase(Locale.ROOT);
    }

    private void print(String line) {
        json.line(line);
    }
}
