package io.github.roost.bench.cachesim;

import io.github.roost.bench.locality.MadeUpMachine;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Study;
import io.github.roost.simulator.TraceRecorder;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.WindowLength;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * What the simulator expects of a guest's searches of HNSW tables, none of which is divided: it replays what the same searches read, in its own
 * model of time and caches. Immutable.
 */
final class Prediction {
    /** Windows of the mapper before the measured searches, as many as the simulator lets pass. */
    private static final int WINDOWS_BEFORE = 12;

    private final CacheModel model;
    private final GuestRun run;
    private final Traces traces;

    /** Records the searches of the tables. */
    Prediction(SavedTables saved, CacheModel model, GuestRun run, int driftEvery) throws IOException {
        this.model = model;
        this.run = run;
        this.traces = traces(saved, saved.spec(driftEvery).withLoad(run.inFlight(), 0));
    }

    private static Traces traces(SavedTables saved, WorkloadSpec spec) throws IOException {
        List<Traces.Table> traced = new ArrayList<>();
        try (Orchestrator orchestrator = Orchestrator.builder().recallShare(0).build()) {
            for (int table = 0; table < saved.count(); table++) {
                try (HnswTable opened = HnswTable.open(orchestrator, "table-" + table, saved.file(table, false))) {
                    traced.add(TraceRecorder.trace(opened, SavedTables.K, SavedTables.EF, saved.queries(table)));
                }
            }
        }
        return new Traces(spec, List.copyOf(traced));
    }

    /**
     * Misses per search of each policy that the simulator has, in the order of the model's sizes.
     *
     * @param policies names, of which {@link GuestRun#FORK_JOIN} is passed over
     */
    Map<String, List<Double>> misses(List<String> policies) throws InterruptedException {
        Map<String, List<Double>> misses = new LinkedHashMap<>();
        for (String name : policies) {
            if (!name.equals(GuestRun.FORK_JOIN)) {
                misses.put(name, misses(Policy.parse(name).getFirst()));
            }
        }
        return misses;
    }

    private List<Double> misses(Policy policy) throws InterruptedException {
        Parameters parameters = Parameters.builtIn();
        Study study = new Study(
                traces,
                parameters.tasks(),
                run.searches(),
                WindowLength.ofSearches(Math.max(1, run.warmUp() / WINDOWS_BEFORE)),
                0,
                1);
        List<Callable<SimResult>> simulations = new ArrayList<>();
        for (long bytes : model.l3Bytes()) {
            Parameters.Machine machine = parameters.machine("genoa");
            double l2 = model.privateBytes() / 1024.0 / machine.l2Kib();
            simulations.add(study.on(
                    MadeUpMachine.topology(run.domains(), run.workers(), bytes),
                    machine.scaled(l2, 1, 1, 1, 1, 1, 1),
                    policy.undivided()));
        }
        return Study.runAll(simulations, result -> {}).stream()
                .map(result -> result.dramGBs() * result.seconds() * 1e9 / model.lineBytes() / result.searches())
                .toList();
    }
}
