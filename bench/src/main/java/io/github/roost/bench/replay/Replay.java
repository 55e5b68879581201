package io.github.roost.bench.replay;

import com.sun.management.OperatingSystemMXBean;
import io.github.roost.bench.Interval;
import io.github.roost.bench.Latencies;
import io.github.roost.bench.Schedulings;
import io.github.roost.bench.replay.Contender.Scheduled;
import io.github.roost.bench.sim.Parameters;
import io.github.roost.bench.sim.Policy;
import io.github.roost.bench.sim.SimResult;
import io.github.roost.bench.sim.Study;
import io.github.roost.bench.sim.WindowLength;
import io.github.roost.bench.workload.QueryStream;
import io.github.roost.bench.workload.TableSpec;
import io.github.roost.bench.workload.WorkloadSpec;
import io.github.roost.core.dispatch.GroupRule;
import io.github.roost.core.dispatch.SchedulingPolicy;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * A workload on this machine under several schedulings, which take turns in one process, forwards and backwards, so that
 * drift of the machine falls on all of them alike. The first is what the others are compared with, round by round.
 */
public final class Replay implements AutoCloseable {
    /** What can take part. */
    public static final List<String> NAMES = Stream.concat(Schedulings.NAMES.stream(), Stream.of("forkjoin", "fixed"))
            .toList();

    private static final int STREAM = 1 << 18;
    private static final int RECALL_SAMPLES = 3;
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private final WorkloadSpec spec;
    private final Topology topology;
    private final ReplayTables tables;
    private final List<Contender> contenders = new ArrayList<>();
    private final int[] streamTables = new int[STREAM];
    private final int[] streamTargets = new int[STREAM];

    /**
     * Builds the tables.
     *
     * @param names of {@link #NAMES}, the first is compared with
     * @param progress told what is being done
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

    private Contender contender(String name) throws IOException {
        int threads = Math.toIntExact(topology.cores().count());
        return switch (name) {
            case "forkjoin" -> executor(name, new ForkJoinPool(threads));
            case "fixed" -> executor(name, Executors.newFixedThreadPool(threads));
            default -> scheduled(name, Schedulings.named(name).orElseThrow());
        };
    }

    private Contender scheduled(String name, SchedulingPolicy scheduling) throws IOException {
        Contender contender = new OrchestratorContender(name, scheduling, topology, tables);
        return scheduling == SchedulingPolicy.ROUND_ROBIN && tables.isIvf() ? new OneAtATime(contender) : contender;
    }

    private Contender executor(String name, ExecutorService pool) throws IOException {
        tables.openForSearchFunctions();
        return new ExecutorContender(name, pool, tables);
    }

    /**
     * What one contender did.
     *
     * @param name of it
     * @param rates searches per second of each round
     * @param latencies of all rounds
     * @param ratios to the first contender's rate of the same round
     * @param scheduled steals and remaps of all rounds
     * @param cpuMicros processor time of this process for each search, in microseconds, which others on the machine change
     *     less than they change rates
     * @param recall share of the true neighbours in a sample of answers
     */
    public record Outcome(
            String name,
            List<Double> rates,
            Latencies latencies,
            List<Double> ratios,
            Steps scheduled,
            double cpuMicros,
            double recall) {
        /** Where the ratio lies with 95 % confidence. */
        public Interval ratio() {
            return Interval.of(ratios);
        }

        /** The ratio for people: where it may as well be 1, that is said instead of a winner. */
        public String verdict() {
            Interval ratio = ratio();
            String spread = String.format(Locale.ROOT, "%.3f +- %.3f", ratio.mean(), ratio.halfWidth());
            return ratio.contains(1) ? spread + ": the noise exceeds the difference" : spread;
        }
    }

    /** Steals inside and across domains, remaps, and the warm traffic in MiB that these moved. */
    public record Steps(long intraSteals, long crossSteals, long remaps, double movedMib) {}

    /** Runs rounds of all contenders. */
    public List<Outcome> run(int rounds, Duration slice, Consumer<String> progress) throws InterruptedException {
        int count = contenders.size();
        List<List<Double>> rates = new ArrayList<>();
        List<Histogram> latencies = new ArrayList<>();
        List<Scheduled> scheduled = new ArrayList<>();
        long[] cpuNanos = new long[count];
        for (Contender contender : contenders) {
            var warmUp = load(contender, 0).run(WARM_UP);
            progress.accept("%s warmed up with %d searches".formatted(contender.name(), warmUp.searches()));
            rates.add(new ArrayList<>());
            latencies.add(new Histogram(3));
            scheduled.add(Scheduled.NOTHING);
        }
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < count; turn++) {
                int number = round % 2 == 0 ? turn : count - 1 - turn;
                Contender contender = contenders.get(number);
                Scheduled before = contender.scheduled();
                long cpuBefore = cpuNanos();
                Load.Run run = load(contender, (long) round * STREAM / rounds).run(slice);
                cpuNanos[number] += cpuNanos() - cpuBefore;
                rates.get(number).add(run.perSecond());
                latencies.get(number).add(run.latencies());
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
                    scheduled.get(number),
                    cpuNanos[number]));
        }
        return List.copyOf(outcomes);
    }

    /** Processor time that this process has taken, of all its threads; 0 where the JVM cannot tell. */
    private static long cpuNanos() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean process
                ? Math.max(0, process.getProcessCpuTime())
                : 0;
    }

    private Load load(Contender contender, long first) {
        return new Load(spec, contender, streamTables, streamTargets, first);
    }

    private Outcome outcome(
            Contender contender,
            List<Double> rates,
            List<Double> baseline,
            Histogram latencies,
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
                List.copyOf(ratios),
                new Steps(
                        scheduled.intraSteals(),
                        scheduled.crossSteals(),
                        scheduled.remaps(),
                        scheduled.movedBytes() / (1024.0 * 1024)),
                cpuNanos / 1e3 / Math.max(1, latencies.getTotalCount()),
                recall(contender));
    }

    private double recall(Contender contender) {
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
     * What the simulator says of the same tables and searches on a machine like this one.
     *
     * @param names of policies, those of {@link #NAMES} that the simulator knows
     * @param machine of the parameters
     * @param level what a domain is
     */
    public List<SimResult> predict(
            Parameters parameters, String machine, DomainLevel level, List<String> names, long searches)
            throws IOException, InterruptedException {
        Study study = new Study(
                tables.traces(),
                parameters.tasks(),
                searches,
                WindowLength.ofSearches(Math.max(1, searches / 50)),
                0,
                1);
        List<Callable<SimResult>> simulations = new ArrayList<>();
        for (Policy policy : Policy.parse(String.join(",", names))) {
            simulations.add(study.on(parameters.machine(machine), level, predicted(policy)));
        }
        return Study.runAll(simulations, result -> {});
    }

    /** What is replayed is Roost as it is: IVF queries that wait go through batch queues, but for V0, which has one at a time. */
    private static Policy predicted(Policy policy) {
        return new Policy(
                policy.name(), policy.scheduling(), Policy.ROOST_RULE, policy.forkJoin(), GroupRule.DEFAULT, true, 1);
    }

    @Override
    public void close() throws IOException {
        contenders.forEach(Contender::close);
        tables.close();
    }
}
