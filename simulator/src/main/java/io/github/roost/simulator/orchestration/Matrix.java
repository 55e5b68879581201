package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Study;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.WindowLength;
import io.github.roost.topology.DomainLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Question: does the default policy win everywhere? Simulates every policy on every machine, for every kind of table, regime and load, stationary
 * and drifting. The cells of one machine, kind, regime and drift form a group and are simulated one after the other, since the open loops' rates are
 * shares of V1's saturated throughput; groups run in parallel, one per CPU.
 */
public final class Matrix {
    /** Searches in flight per core in the closed loop: enough that no core waits for a caller. */
    static final int IN_FLIGHT_PER_CORE = 4;
    /** Searches whose traffic the mapper knows at the start: a window of 10 s has more. */
    static final long KNOWN = 48_000;
    /** Windows per drifting cell, and popularity swaps, so that most windows see one swap. */
    private static final int WINDOWS_OF_DRIFT = 8;

    private static final double SECONDS_OF_A_WINDOW = 10;

    private final Parameters parameters;
    private final List<Regime> regimes;
    private final Extent extent;

    /**
     * How much of the matrix is simulated, and at which sampling.
     *
     * @param machines to simulate
     * @param kinds of tables
     * @param rates of open loops, as shares of V1's saturated throughput
     * @param drifts whether stationary, drifting or both
     * @param searches measured in each simulation
     * @param sample one in how many nodes and blocks is simulated
     */
    public record Extent(
            List<Place> machines,
            List<Regime.Kind> kinds,
            List<Double> rates,
            List<Boolean> drifts,
            long searches,
            int sample) {
        /** Every cell. */
        public static Extent whole(long searches, int sample) {
            List<Place> machines = Stream.concat(
                            IntStream.rangeClosed(1, 12).mapToObj(domains -> new Place("genoa", domains)),
                            Stream.of(new Place("rome", 12), new Place("genoa-2s", 12), new Place("monolithic", 1)))
                    .toList();
            return new Extent(
                    machines,
                    List.of(Regime.Kind.values()),
                    DoubleStream.of(.3, .5, .7, .9).boxed().toList(),
                    List.of(false, true),
                    searches,
                    sample);
        }

        /** A few cells, in some seconds. */
        public static Extent quick() {
            List<Place> machines = List.of(new Place("genoa", 2), new Place("monolithic", 1));
            return new Extent(machines, List.of(Regime.Kind.values()), List.of(.7), List.of(false, true), 300, 16);
        }
    }

    /**
     * A machine.
     *
     * @param name of its parameters
     * @param domains per package
     */
    public record Place(String name, int domains) {}

    public Matrix(Parameters parameters, List<Regime> regimes, Extent extent) {
        this.parameters = parameters;
        this.regimes = List.copyOf(regimes);
        this.extent = extent;
    }

    /**
     * Simulates all cells on all CPUs.
     *
     * @param each receives the cells of each group when they are done
     * @throws InterruptedException if interrupted
     */
    public List<Cell> run(Consumer<List<Cell>> each) throws InterruptedException {
        List<Callable<List<Cell>>> groups = new ArrayList<>();
        for (Place place : extent.machines) {
            for (Regime regime : regimes) {
                for (Regime.Kind kind : extent.kinds) {
                    extent.drifts.forEach(drifting -> groups.add(() -> group(place, regime, kind, drifting)));
                }
            }
        }
        ExecutorService cpus = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Cell> cells = new ArrayList<>();
            for (Future<List<Cell>> group : groups.stream().map(cpus::submit).toList()) {
                each.accept(group.get());
                cells.addAll(group.get());
            }
            return List.copyOf(cells);
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a cell could not be simulated", failed.getCause());
        } finally {
            cpus.shutdownNow();
        }
    }

    private List<Cell> group(Place place, Regime regime, Regime.Kind kind, boolean drifting) throws Exception {
        Parameters.Machine machine = parameters.machine(place.name).withDomains(place.domains);
        int domains = machine.packages() * machine.domains();
        int inFlight = IN_FLIGHT_PER_CORE * domains * machine.cores();
        int window = (int) Math.max(1, extent.searches / WINDOWS_OF_DRIFT);
        Traces traces = regime.of(kind)
                .with(spec ->
                        drifting ? spec.withDrift(window, Math.max(1, spec.tables() / 15)) : spec.withDrift(0, 0));
        Study study = new Study(
                traces,
                parameters.tasks(),
                extent.searches,
                drifting ? WindowLength.ofSearches(window) : WindowLength.ofSeconds(SECONDS_OF_A_WINDOW),
                KNOWN,
                extent.sample);
        List<Cell> cells = new ArrayList<>();
        List<SimResult> saturated = all(study.of(traces.with(spec -> spec.withLoad(inFlight, 0))), machine);
        cells.add(new Cell(place.name, domains, kind, regime.name(), drifting, 0, saturated));
        double capacity = cells.getFirst().result("v1").perSecond();
        for (double rate : extent.rates) {
            Study open = study.of(traces.with(spec -> spec.withLoad(inFlight, rate * capacity)));
            cells.add(new Cell(place.name, domains, kind, regime.name(), drifting, rate, all(open, machine)));
        }
        return cells;
    }

    private static List<SimResult> all(Study study, Parameters.Machine machine) throws Exception {
        List<SimResult> results = new ArrayList<>();
        for (Policy policy : Policy.parse(String.join(",", Cell.RIVALS) + "," + Cell.SUBJECT)) {
            results.add(study.on(machine, DomainLevel.L3, policy).call().withoutDetails());
        }
        return results;
    }
}
