package io.github.roost.simulator.replay;

import com.sun.management.OperatingSystemMXBean;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Study;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.WindowLength;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.simulator.replay.ReplayContender.Scheduled;
import io.github.roost.simulator.workload.QueryStream;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Runs a workload on this machine under several schedulings, which alternate in one process, in reversed order every other round, so that drift of
 * the machine affects all alike. The first one is the baseline, compared round by round.
 *
 * <p>{@code v2} and {@code v2-gated} are the paper's design with Algorithm 1 at the end of every window, {@code roost} is an orchestrator's default,
 * and {@code roost-undivided} the default without regions of large HNSW tables. Queries that wait for the same IVF list share its scan under {@code
 * roost} and {@code roost-undivided} only; under the paper's schedulings each query scans alone, and {@code v0} runs one query at a time.
 */
public final class Replay implements AutoCloseable {
    /** Schedulings of Roost's workers; the simulator uses the same names. */
    public static final List<String> SCHEDULINGS = Stream.concat(
                    Schedulings.NAMES.stream(), Stream.of("roost-undivided", "roost"))
            .toList();

    /** All supported contenders. */
    public static final List<String> NAMES =
            Stream.concat(SCHEDULINGS.stream(), Stream.of("forkjoin", "fixed")).toList();

    private static final int STREAM = 1 << 18;
    private static final int RECALL_SAMPLES = 3;
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private final WorkloadSpec spec;
    private final Topology topology;
    private final ReplayTables tables;
    private final List<ReplayContender> contenders = new ArrayList<>();
    private final int[] streamTables = new int[STREAM];
    private final int[] streamTargets = new int[STREAM];
    /** Recorded by the first prediction. */
    private @Nullable Traces traces;

    /**
     * Builds the tables.
     *
     * @param names from {@link #NAMES}; the first is the baseline
     * @param progress receives messages about the current step
     */
    public Replay(
            WorkloadSpec spec, List<TableSpec> specs, Topology topology, List<String> names, Consumer<String> progress)
            throws IOException {
        this.spec = spec;
        this.topology = topology;
        for (String name : names) {
            if (!NAMES.contains(name)) {
                throw new IllegalArgumentException("policy must be one of " + NAMES + ", got " + name);
            }
        }
        this.tables = new ReplayTables(
                spec, specs, topology, built -> progress.accept("built table %d of %d".formatted(built, specs.size())));
        tables.openForSearchFunctions();
        for (String name : names) {
            contenders.add(contender(name));
        }
        QueryStream stream = new QueryStream(spec, specs.size());
        for (int number = 0; number < STREAM; number++) {
            stream.next();
            streamTables[number] = stream.table();
            streamTargets[number] = stream.target();
        }
    }

    private ReplayContender contender(String name) throws IOException {
        int threads = Math.toIntExact(topology.cores().count());
        return switch (name) {
            case "forkjoin" -> new ExecutorContender(name, new ForkJoinPool(threads), tables);
            case "fixed" -> new ExecutorContender(name, Executors.newFixedThreadPool(threads), tables);
            case "roost" -> roost(name, true);
            case "roost-undivided" -> roost(name, false);
            default -> ofThePaper(name, Schedulings.named(name).orElseThrow());
        };
    }

    private ReplayContender roost(String name, boolean inRegions) throws IOException {
        return new OrchestratorContender(
                name, SchedulingPolicy.HOME_DOMAIN, Policy.ROOST_RULE, GroupRule.DEFAULT, inRegions, topology, tables);
    }

    private ReplayContender ofThePaper(String name, SchedulingPolicy scheduling) throws IOException {
        ReplayContender contender =
                new OrchestratorContender(name, scheduling, Policy.PAPER, GroupRule.ALONE, false, topology, tables);
        return scheduling == SchedulingPolicy.ROUND_ROBIN && tables.isIvf()
                ? new SerialContender(contender)
                : contender;
    }

    /**
     * The result of one contender.
     *
     * @param name of the contender
     * @param rates searches per second of each round
     * @param latencies of all rounds
     * @param late delays from the intended time of a search of an open loop to its submission, included in the latencies; all 0 in a closed loop
     * @param ratios to the baseline's rate of the same round
     * @param scheduled steals and remaps of all rounds
     * @param cpuMicros CPU time of this process per search, in microseconds; other processes affect it less than the rates
     * @param recall share of the true neighbors in a sample of answers
     */
    public record Outcome(
            String name,
            List<Double> rates,
            Latencies latencies,
            Latencies late,
            List<Double> ratios,
            Steps scheduled,
            double cpuMicros,
            double recall) {
        /** The 95 % confidence interval of the mean ratio. */
        public Interval ratio() {
            return Interval.of(ratios);
        }

        /** The ratio for people; if the interval contains 1, it says so instead of naming a winner. */
        public String verdict() {
            Interval ratio = ratio();
            String spread = String.format(Locale.ROOT, "%.3f +- %.3f", ratio.mean(), ratio.halfWidth());
            return ratio.contains(1) ? spread + ": the noise exceeds the difference" : spread;
        }
    }

    /** Steals inside and across domains, remaps, and the warm traffic in MiB that these moved. */
    public record Steps(long intraSteals, long crossSteals, long remaps, double movedMib) {}

    /** Runs all contenders for a while, so that the JIT has compiled the code and homes have settled before measurements. */
    public void warmUp(Consumer<String> progress) throws InterruptedException {
        for (ReplayContender contender : contenders) {
            var warmUp = load(spec.withLoad(spec.inFlight(), 0), contender, 0).run(WARM_UP);
            progress.accept("%s warmed up with %d searches".formatted(contender.name(), warmUp.searches()));
        }
    }

    /** Runs rounds of all contenders under the workload's own load. */
    public List<Outcome> run(int rounds, Duration slice, Consumer<String> progress) throws InterruptedException {
        return run(spec, rounds, slice, progress);
    }

    /**
     * Runs rounds of all contenders in an open loop.
     *
     * @param perSecond searches that arrive per second, at random; over 0
     */
    public List<Outcome> runOpen(double perSecond, int rounds, Duration slice, Consumer<String> progress)
            throws InterruptedException {
        return run(spec.withLoad(spec.inFlight(), perSecond), rounds, slice, progress);
    }

    private List<Outcome> run(WorkloadSpec loaded, int rounds, Duration slice, Consumer<String> progress)
            throws InterruptedException {
        int count = contenders.size();
        List<List<Double>> rates = new ArrayList<>();
        List<Histogram> latencies = new ArrayList<>();
        List<Histogram> late = new ArrayList<>();
        List<Scheduled> scheduled = new ArrayList<>();
        long[] cpuNanos = new long[count];
        for (int number = 0; number < count; number++) {
            rates.add(new ArrayList<>());
            latencies.add(new Histogram(SIGNIFICANT_DIGITS));
            late.add(new Histogram(SIGNIFICANT_DIGITS));
            scheduled.add(Scheduled.NOTHING);
        }
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < count; turn++) {
                int number = round % 2 == 0 ? turn : count - 1 - turn;
                ReplayContender contender = contenders.get(number);
                Scheduled before = contender.scheduled();
                long cpuBefore = cpuNanos();
                Load.Run run =
                        load(loaded, contender, (long) round * STREAM / rounds).run(slice);
                cpuNanos[number] += cpuNanos() - cpuBefore;
                rates.get(number).add(run.perSecond());
                latencies.get(number).add(run.latencies());
                late.get(number).add(run.late());
                scheduled.set(
                        number, scheduled.get(number).plus(contender.scheduled().since(before)));
            }
            progress.accept("round %d of %d".formatted(round + 1, rounds));
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            outcomes.add(outcome(
                    contenders.get(number),
                    rates.get(number),
                    rates.getFirst(),
                    latencies.get(number),
                    late.get(number),
                    scheduled.get(number),
                    cpuNanos[number]));
        }
        return List.copyOf(outcomes);
    }

    /** CPU time of all threads of this process so far; 0 if the JVM does not provide it. */
    private static long cpuNanos() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean process
                ? Math.max(0, process.getProcessCpuTime())
                : 0;
    }

    private Load load(WorkloadSpec loaded, ReplayContender contender, long first) {
        return new Load(loaded, contender, streamTables, streamTargets, first);
    }

    private Outcome outcome(
            ReplayContender contender,
            List<Double> rates,
            List<Double> baseline,
            Histogram latencies,
            Histogram late,
            Scheduled scheduled,
            long cpuNanos) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < rates.size(); round++) {
            ratios.add(rates.get(round) / baseline.get(round));
        }
        return new Outcome(
                contender.name(),
                List.copyOf(rates),
                Latencies.ofNanos(latencies),
                Latencies.ofNanos(late),
                List.copyOf(ratios),
                new Steps(
                        scheduled.intraSteals(),
                        scheduled.crossSteals(),
                        scheduled.remaps(),
                        scheduled.movedBytes() / (1024.0 * 1024)),
                cpuNanos / 1e3 / Math.max(1, latencies.getTotalCount()),
                recall(contender));
    }

    private double recall(ReplayContender contender) {
        return tables.all()
                .mapToDouble(table -> {
                    double sum = 0;
                    int samples = Math.min(RECALL_SAMPLES, spec.targets());
                    for (int target = 0; target < samples; target++) {
                        sum += tables.recall(
                                table, target, contender.search(table, target).join());
                    }
                    return sum / samples;
                })
                .average()
                .orElseThrow();
    }

    /**
     * Simulates the same tables and searches on a given machine.
     *
     * @param names of policies, from {@link #SCHEDULINGS}
     * @param machine name of its parameters
     * @param level of the domains
     * @param perSecond arrivals per second of an open loop; 0 for the workload's closed loop
     * @param searches number that each simulation measures
     */
    public List<SimResult> predict(
            Parameters parameters,
            String machine,
            DomainLevel level,
            List<String> names,
            double perSecond,
            long searches)
            throws IOException, InterruptedException {
        if (traces == null) {
            traces = tables.traces();
        }
        Study study = new Study(
                traces.with(recorded -> recorded.withLoad(recorded.inFlight(), perSecond)),
                parameters.tasks(),
                searches,
                WindowLength.ofSearches(Math.max(1, searches / 50)),
                0,
                1);
        List<Callable<SimResult>> simulations = new ArrayList<>();
        for (Policy policy : Policy.parse(String.join(",", names))) {
            simulations.add(study.on(parameters.machine(machine), level, policy.undivided()));
        }
        return Study.runAll(simulations, result -> {});
    }

    @Override
    public void close() throws IOException {
        contenders.forEach(ReplayContender::close);
        tables.close();
    }
}
