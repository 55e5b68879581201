package io.github.roost.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.bench.locality.GateBench;
import io.github.roost.bench.locality.GateBench.Outcome;
import io.github.roost.bench.locality.MadeUpMachine;
import io.github.roost.bench.locality.WorkConservation;
import io.github.roost.bench.locality.WorkConservation.Before;
import io.github.roost.bench.locality.WorkConservation.Flood;
import io.github.roost.bench.locality.WorkConservation.Staying;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.simulator.measure.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench gate}: when a task should cross domains. */
@Command(
        name = "gate",
        description =
                "Thresholds of the cross-domain gate, under bursts (crossing harms) and a flood (crossing helps), and the"
                        + " default's effect with several workers per domain.")
final class GateCommand implements Callable<Integer> {
    private static final List<Integer> BACKLOGS = List.of(1, 2, 4, 8);
    private static final List<Integer> SUSTAINED_MICROS = List.of(0, 50, 200, 1_000, 5_000);

    private static final int BURSTS = 250;
    private static final List<Integer> BURSTS_PER_WORKER = List.of(2, 3, 4);
    private static final Duration BURST_TASK = Duration.ofMillis(1);
    private static final double BALANCED_LOAD = .9;
    private static final Duration BALANCED_TASK = Duration.ofMillis(10);
    private static final int BALANCED_TASKS_PER_WORKER = 300;

    /** The measurements, in their order. */
    enum Section {
        THRESHOLDS,
        WORKERS
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final LevelOption level = new LevelOption();

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

    @Option(names = "--table-kib", paramLabel = "N", description = "Size per table; default 750.")
    private int tableKib = 750;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all gates; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per gate and load; default 200.")
    private int sliceMillis = 200;

    @Mixin
    private final JsonOption json;

    GateCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws JsonProcessingException, InterruptedException {
        BenchCommand.require("--table-kib", tableKib, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        BenchCommand.require("--tasks", tasks, 1, 1_000_000);
        BenchCommand.require("--task-millis", taskMillis, 1, 10_000);
        List<MadeUpMachine> flooded =
                floodMachines.stream().map(GateCommand::machine).toList();
        MadeUpMachine staying = machine(stayingMachine);
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
        json.print(figures);
        return 0;
    }

    private static MadeUpMachine machine(String text) {
        try {
            return MadeUpMachine.of(text);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }

    private List<Outcome> thresholds() {
        List<CrossDomainGate> gates = BACKLOGS.stream()
                .flatMap(backlog -> SUSTAINED_MICROS.stream()
                        .map(micros -> new CrossDomainGate(
                                backlog, Duration.ofNanos(1_000L * micros).toNanos())))
                .toList();
        List<Outcome> outcomes = measure(gates);
        json.line("backlog  sustained us   bursts: p99 us (min to max)      crossed      flood: searches/s");
        for (Outcome outcome : outcomes) {
            json.line("%7d  %12d   %8.0f (%.0f to %.0f)   %10.1f %%   %10.0f (%.0f to %.0f)"
                    .formatted(
                            outcome.gate().backlogPerWorker(),
                            outcome.gate().sustainedNanos() / 1_000,
                            Samples.of(outcome.burstP99Micros()).median(),
                            Samples.of(outcome.burstP99Micros()).least(),
                            Samples.of(outcome.burstP99Micros()).most(),
                            100 * Samples.of(outcome.burstCrossShare()).median(),
                            Samples.of(outcome.floodPerSecond()).median(),
                            Samples.of(outcome.floodPerSecond()).least(),
                            Samples.of(outcome.floodPerSecond()).most()));
        }
        json.line("");
        return outcomes;
    }

    private List<Flood> floods(List<MadeUpMachine> machines) throws InterruptedException {
        json.line("%d tasks of one mapping id, each sleeps %d ms; made-up machines of domains x workers"
                .formatted(tasks, taskMillis));
        json.line("machine  before     at once, of free workers     took ms  work-conserving ms   crossed");
        List<Flood> floods = new ArrayList<>();
        for (MadeUpMachine machine : machines) {
            for (Before before : Before.values()) {
                Flood flood = new WorkConservation(machine).flood(before, tasks, Duration.ofMillis(taskMillis));
                floods.add(flood);
                json.line("%7s  %-8s  %12d of %4d (%3.0f %%)  %10.0f  %18.0f  %8d"
                        .formatted(
                                machine,
                                before.name().toLowerCase(Locale.ROOT),
                                flood.atOnce(),
                                flood.free(),
                                100.0 * flood.atOnce() / flood.free(),
                                flood.tookMillis(),
                                flood.idealMillis(),
                                flood.crossed()));
            }
        }
        json.line("");
        return floods;
    }

    private Map<String, Staying> staying(MadeUpMachine machine) throws InterruptedException {
        WorkConservation bench = new WorkConservation(machine);
        int balancedTasks = BALANCED_TASKS_PER_WORKER * machine.workers();
        Map<String, Staying> loads = new LinkedHashMap<>();
        for (int perWorker : BURSTS_PER_WORKER) {
            loads.put("bursts-of-" + perWorker, bench.bursts(BURSTS, perWorker, BURST_TASK));
        }
        loads.put("balanced", bench.balanced(BALANCED_LOAD, BALANCED_TASK, balancedTasks, 1));
        json.line(
                "loads that the home domain completes soon, %s: bursts of N tasks per worker, a balanced load at %.1f of capacity"
                        .formatted(machine, BALANCED_LOAD));
        json.line("load           tasks   crossed    share   workers busy");
        loads.forEach((name, staying) -> json.line("%-11s %8d  %8d  %5.2f %%  %12.2f"
                .formatted(name, staying.tasks(), staying.crossed(), 100 * staying.crossedShare(), staying.busy())));
        return loads;
    }

    private List<Outcome> measure(List<CrossDomainGate> gates) {
        try {
            return new GateBench(level.machine(), tableKib << 10, Duration.ofMillis(sliceMillis)).run(gates, rounds);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }
}
