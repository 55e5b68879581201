package io.github.roost.bench.locality;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.locality.WorkConservation.Before;
import io.github.roost.bench.locality.WorkConservation.Flood;
import io.github.roost.bench.locality.WorkConservation.Staying;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: when should a task cross domains? Each gate is tested on two loads: one where crossing only harms (every
 * domain has a table that fits its cache, and searches come in bursts), and one where only crossing helps (all searches
 * are for one table, and the other domains are idle). The gates alternate, in reversed order every other round.
 */
@Command(
        name = "gate",
        description = "Ages of the cross-domain gate, under bursts (crossing harms) and a flood (crossing helps), and"
                + " the default's effect with several workers per domain.")
@SuppressWarnings("NullAway.Init")
public final class GateBench implements Callable<Integer> {
    private static final int BURST = 8;
    private static final long PAUSE_NANOS = 300_000;
    private static final int FLOOD = 32;
    private static final long LONGEST_NANOS = 10_000_000_000L;

    private static final List<Integer> AGES_MICROS = List.of(0, 20, 50, 100, 200, 500, 1_000, 5_000);

    private static final int BURSTS = 60;
    private static final List<Integer> BURSTS_PER_WORKER = List.of(2, 3, 8);
    private static final double BALANCED_LOAD = .9;
    private static final int BALANCED_TASKS_PER_WORKER = 300;
    private static final Duration STAYING_TASK = Duration.ofMillis(WorkConservation.STAYING_TASK_MILLIS);

    /** The measurements, in their order. */
    enum Section {
        THRESHOLDS,
        WORKERS
    }

    private final @Mixin LevelOption level = new LevelOption();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "thresholds,workers",
            description = "Sections to measure; default both.")
    private Set<Section> sections = EnumSet.allOf(Section.class);

    @Option(
            names = "--flood-machine",
            split = ",",
            paramLabel = "DOMAINSxWORKERS",
            description = "Simulated machines for the flood; default 4x2,12x8.")
    private List<String> floodMachines = List.of("4x2", "12x8");

    @Option(
            names = "--staying-machine",
            paramLabel = "DOMAINSxWORKERS",
            description = "Simulated machine for work that should stay; default 4x8.")
    private String stayingMachine = "4x8";

    @Option(names = "--tasks", paramLabel = "N", description = "Tasks of a flood on a simulated machine; default 800.")
    private int tasks = 800;

    @Option(names = "--task-millis", paramLabel = "N", description = "Sleep time per task; default 5.")
    private int taskMillis = 5;

    private final @Mixin NumberOption tableKib = NumberOption.tableKib(750);
    private final @Mixin RoundOptions rounds = new RoundOptions(5, 200);
    private final @Mixin JsonOutput output = new JsonOutput();

    private Topology topology;

    @Override
    public Integer call() throws JsonProcessingException, InterruptedException {
        NumberOption.check(tableKib);
        rounds.check();
        Options.require("--tasks", tasks, 1, 1_000_000);
        Options.require("--task-millis", taskMillis, 1, 10_000);
        List<MadeUpMachine> flooded =
                floodMachines.stream().map(MadeUpMachine::of).toList();
        MadeUpMachine staying = MadeUpMachine.of(stayingMachine);
        Map<String, Object> figures = new LinkedHashMap<>();
        for (Section section : sections) {
            switch (section) {
                case THRESHOLDS -> figures.put("gates", thresholds());
                case WORKERS -> {
                    figures.put("floods", floods(flooded));
                    figures.put("staying", staying(staying));
                }
            }
        }
        output.print(figures);
        return 0;
    }

    private List<Outcome> thresholds() {
        List<CrossDomainGate> gates = AGES_MICROS.stream()
                .map(micros -> new CrossDomainGate(1_000L * micros))
                .toList();
        List<Outcome> outcomes = run(gates);
        output.line("age us   bursts: p99 us (min to max)      crossed      flood: searches/s");
        for (Outcome outcome : outcomes) {
            output.format(
                    "%6d   %20s   %10.1f %%   %22s",
                    outcome.gate().ageNanos() / 1_000,
                    Samples.of(outcome.burstP99Micros()).spread("%.0f"),
                    100 * Samples.of(outcome.burstCrossShare()).median(),
                    Samples.of(outcome.floodPerSecond()).spread("%.0f"));
        }
        output.line("");
        return outcomes;
    }

    private List<Flood> floods(List<MadeUpMachine> machines) throws InterruptedException {
        output.format(
                "%d tasks of one mapping id, each sleeps %d ms; made-up machines of domains x workers",
                tasks, taskMillis);
        output.line("machine  before     at once, of free workers     took ms  work-conserving ms   crossed");
        List<Flood> floods = new ArrayList<>();
        for (MadeUpMachine machine : machines) {
            for (Before before : Before.values()) {
                Flood flood = new WorkConservation(machine).flood(before, tasks, Duration.ofMillis(taskMillis));
                floods.add(flood);
                output.format(
                        "%7s  %-8s  %12d of %4d (%3.0f %%)  %10.0f  %18.0f  %8d",
                        machine,
                        Options.name(before),
                        flood.atOnce(),
                        flood.free(),
                        100.0 * flood.atOnce() / flood.free(),
                        flood.tookMillis(),
                        flood.idealMillis(),
                        flood.crossed());
            }
        }
        output.line("");
        return floods;
    }

    private Map<String, Staying> staying(MadeUpMachine machine) throws InterruptedException {
        WorkConservation bench = new WorkConservation(machine);
        int balancedTasks = BALANCED_TASKS_PER_WORKER * machine.workers();
        Map<String, Staying> loads = new LinkedHashMap<>();
        for (int perWorker : BURSTS_PER_WORKER) {
            loads.put("bursts-of-" + perWorker, bench.bursts(BURSTS, perWorker, STAYING_TASK));
        }
        loads.put("balanced", bench.balanced(BALANCED_LOAD, STAYING_TASK, balancedTasks, 1));
        output.format(
                "loads under an age of %d ms and tasks of a quarter of it, %s: bursts of N tasks per worker, a balanced load"
                        + " at %.1f of capacity",
                WorkConservation.STAYING.ageNanos() / 1_000_000, machine, BALANCED_LOAD);
        output.line("load           tasks   crossed    share   workers busy");
        loads.forEach((name, staying) -> output.format(
                "%-11s %8d  %8d  %5.2f %%  %12.2f",
                name, staying.tasks(), staying.crossed(), 100 * staying.crossedShare(), staying.busy()));
        return loads;
    }

    /**
     * The results of one gate, one entry per round.
     *
     * @param burstP99Micros P99 latency of searches in bursts to all tables
     * @param burstCrossShare share of the burst searches that crossed
     * @param floodPerSecond searches per second of one table
     */
    public record Outcome(
            CrossDomainGate gate,
            List<Double> burstP99Micros,
            List<Double> burstCrossShare,
            List<Double> floodPerSecond) {}

    /** Measures every gate in every round. */
    private List<Outcome> run(List<CrossDomainGate> gates) {
        topology = level.severalDomains();
        List<Outcome> outcomes = gates.stream()
                .map(gate -> new Outcome(gate, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()))
                .toList();
        // One unmeasured run for the JIT.
        bursts(new Outcome(gates.getFirst(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
        for (int round = 0; round < rounds.count(); round++) {
            for (Outcome outcome : round % 2 == 0 ? outcomes : outcomes.reversed()) {
                bursts(outcome);
                flood(outcome);
            }
        }
        return outcomes;
    }

    private void bursts(Outcome outcome) {
        Recorder recorder = new Recorder(LONGEST_NANOS, 3);
        try (Orchestrator orchestrator = orchestrator(outcome.gate())) {
            List<TableLoad> tables = new ArrayList<>();
            for (int table = 0; table < topology.domains().size(); table++) {
                // With an end in the past, every chain is one search long.
                tables.add(new TableLoad(
                        orchestrator,
                        orchestrator.register("table-" + table),
                        tableKib.value() << 10,
                        System.nanoTime(),
                        recorder::recordValue));
            }
            ConcurrentLinkedQueue<CompletableFuture<Void>> searches = new ConcurrentLinkedQueue<>();
            long end = System.nanoTime() + rounds.slice().toNanos();
            for (long burst = 0; System.nanoTime() < end; burst++) {
                TableLoad table = tables.get((int) (burst % tables.size()));
                for (int i = 0; i < BURST; i++) {
                    searches.add(table.start(burst * BURST + i));
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            searches.forEach(CompletableFuture::join);
            Histogram histogram = recorder.getIntervalHistogram();
            outcome.burstP99Micros().add(histogram.getValueAtPercentile(99) / 1e3);
            outcome.burstCrossShare()
                    .add((double) orchestrator.stats(0).tasks().crossSteals() / histogram.getTotalCount());
        }
    }

    private void flood(Outcome outcome) {
        Recorder recorder = new Recorder(LONGEST_NANOS, 3);
        try (Orchestrator orchestrator = orchestrator(outcome.gate())) {
            long begin = System.nanoTime();
            TableLoad table = new TableLoad(
                    orchestrator,
                    orchestrator.register("table"),
                    tableKib.value() << 10,
                    begin + rounds.slice().toNanos(),
                    recorder::recordValue);
            List<CompletableFuture<Void>> chains = new ArrayList<>();
            for (int chain = 0; chain < FLOOD; chain++) {
                chains.add(table.start(chain));
            }
            chains.forEach(CompletableFuture::join);
            outcome.floodPerSecond()
                    .add(recorder.getIntervalHistogram().getTotalCount() * 1e9 / (System.nanoTime() - begin));
        }
    }

    private Orchestrator orchestrator(CrossDomainGate gate) {
        return Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .crossDomainGate(gate)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
    }
}
