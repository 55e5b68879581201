package io.github.roost.simulator;

import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Simulations of one workload, run in parallel, one per CPU. Thread-safe.
 *
 * @param traces the recorded reads of searches
 * @param tasks costs of searches
 * @param searches number that each simulation measures
 * @param windowLength end of the mapper's windows
 * @param known searches whose traffic the mapper has seen before the first one runs; 0 for none
 * @param sample one in how many nodes and blocks is simulated, from 1 to 64; simulations are faster by that factor
 */
public record Study(
        Traces traces, Parameters.Tasks tasks, long searches, WindowLength windowLength, long known, int sample) {
    /** Creates a simulation of a machine of the given parameters. */
    public Callable<SimResult> on(Parameters.Machine machine, DomainLevel level, Policy policy) {
        return on(SimulatedMachine.of(machine, level), policy);
    }

    /** Creates a simulation of the cores and caches of a topology with the speeds of a machine's parameters. */
    public Callable<SimResult> on(Topology topology, Parameters.Machine speeds, Policy policy) {
        return on(SimulatedMachine.of(topology, speeds), policy);
    }

    private Callable<SimResult> on(SimulatedMachine machine, Policy policy) {
        return () -> new Simulation(traces, machine, tasks, policy, searches, windowLength, known, new Sampling(sample))
                .run();
    }

    /** Returns a copy with other costs of searches. */
    public Study with(Parameters.Tasks other) {
        return new Study(traces, other, searches, windowLength, known, sample);
    }

    /** Returns a copy with other traces. */
    public Study of(Traces others) {
        return new Study(others, tasks, searches, windowLength, known, sample);
    }

    /**
     * Runs simulations on all CPUs.
     *
     * @param each receives each result, in order
     * @return the results, in order
     * @throws InterruptedException if interrupted
     */
    public static List<SimResult> runAll(List<Callable<SimResult>> simulations, Consumer<SimResult> each)
            throws InterruptedException {
        ExecutorService cpus = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<SimResult>> pending =
                    simulations.stream().map(cpus::submit).toList();
            List<SimResult> results = new ArrayList<>();
            for (Future<SimResult> future : pending) {
                SimResult result = future.get();
                each.accept(result);
                results.add(result);
            }
            return List.copyOf(results);
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a simulation failed", failed.getCause());
        } finally {
            cpus.shutdownNow();
        }
    }
}
