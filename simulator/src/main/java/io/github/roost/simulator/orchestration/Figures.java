package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.PaperFigures;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Study;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.WindowLength;
import io.github.roost.simulator.workload.WorkloadSpec.Index;
import io.github.roost.topology.DomainLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** Simulates the paper's figures 5 and 14 to 20, in one regime. */
public final class Figures {
    /** The max domains of both machines of the paper. */
    static final int MAX_DOMAINS = 12;

    private static final List<String> MACHINES = List.of("genoa", "rome");
    private static final List<Index> INDEXES = List.of(Index.HNSW, Index.IVF);
    private static final List<Policy> POLICIES = Policy.parse("v0,v1,v2,v2-gated,roost");

    private static final List<Policy> SERVING = Policy.parse("v1,v2,v2-gated,roost");
    private static final double SERVING_RATE = .7;
    private static final int SECONDS_OF_A_WINDOW = 10;
    private static final int WINDOWS_PER_DRIFT = 25;

    private final Parameters parameters;
    private final Regime regime;
    private final Extent extent;

    /**
     * How much is simulated, and at which sampling.
     *
     * @param domains numbers of domains of the machines, ascending, the last 12
     * @param searches measured in each simulation
     * @param windows of the timeline
     * @param searchesPerWindow of the timeline
     * @param assumptions number of assumptions that are varied
     * @param sample one in how many nodes and blocks is simulated
     */
    public record Extent(
            List<Integer> domains, long searches, int windows, int searchesPerWindow, int assumptions, int sample) {
        /** The full extent of all figures. */
        public static Extent whole(long searches, int sample) {
            List<Integer> domains =
                    IntStream.rangeClosed(1, MAX_DOMAINS).boxed().toList();
            return new Extent(domains, searches, 1_000, 300, Assumption.all().size(), sample);
        }

        /** A small part of each figure, in some seconds. */
        public static Extent quick() {
            return new Extent(List.of(1, 2), 300, 20, 20, 2, 16);
        }
    }

    /**
     * The results in one regime.
     *
     * @param regime its traces
     * @param scaling throughput and other figures by number of domains
     * @param timelines latency over time
     * @param variants comparisons with the paper under one changed assumption each; the first is unchanged
     */
    record Found(Regime regime, List<Scaling> scaling, List<Timeline> timelines, List<Variants> variants) {}

    /** One machine and index: all policies, by number of domains. */
    record Scaling(String machine, Index index, List<SimResult> results) {
        SimResult at(int domains, String policy) {
            return results.stream()
                    .filter(result ->
                            result.domains() == domains && result.policy().equals(policy))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Mean latencies window by window, of an open loop. */
    record Timeline(Index index, double rate, List<SimResult> results) {}

    /** The paper's figures of one index, under each assumption. */
    record Variants(Index index, List<Variant> each) {}

    /** The results of V0, V1, V2, V2 gated and Roost under one changed assumption. */
    record Variant(String assumption, List<PaperFigures.Figure> figures, List<SimResult> results) {}

    private Figures(Parameters parameters, Regime regime, Extent extent) {
        this.parameters = parameters;
        this.regime = regime;
        this.extent = extent;
    }

    private int maxDomains() {
        return extent.domains.getLast();
    }

    /**
     * Simulates on all CPUs.
     *
     * @throws InterruptedException if interrupted
     */
    private Found run() throws InterruptedException {
        List<Scaling> scaling = new ArrayList<>();
        List<Timeline> timelines = new ArrayList<>();
        List<Variants> variants = new ArrayList<>();
        for (Index index : INDEXES) {
            for (String machine : MACHINES) {
                scaling.add(scaling(machine, index));
            }
            double capacity = scaling.get(scaling.size() - MACHINES.size())
                    .at(maxDomains(), "v1")
                    .perSecond();
            timelines.add(timeline(index, SERVING_RATE * capacity));
            variants.add(variants(index));
        }
        return new Found(regime, scaling, timelines, variants);
    }

    private Traces traces(Index index) {
        return index == Index.HNSW ? regime.hnsw() : regime.ivf();
    }

    private Study study(Traces traces, Parameters.Tasks tasks) {
        WindowLength windows = WindowLength.ofSeconds(SECONDS_OF_A_WINDOW);
        return new Study(traces, tasks, extent.searches, windows, Matrix.KNOWN, extent.sample);
    }

    private static Traces loaded(Traces traces, Parameters.Machine machine) {
        int inFlight = Matrix.IN_FLIGHT_PER_CORE * machine.packages() * machine.domains() * machine.cores();
        return traces.with(spec -> spec.withLoad(inFlight, 0));
    }

    private Scaling scaling(String name, Index index) throws InterruptedException {
        List<Callable<SimResult>> simulations = new ArrayList<>();
        for (int domains : extent.domains) {
            Parameters.Machine machine = parameters.machine(name).withDomains(domains);
            Study study = study(loaded(traces(index), machine), parameters.tasks());
            POLICIES.forEach(policy -> simulations.add(study.on(machine, DomainLevel.L3, policy)));
        }
        return new Scaling(name, index, Study.runAll(simulations, done -> {}));
    }

    /** A mapper's window is a number of searches here, since one of 10 s has hundreds of thousands. */
    private Timeline timeline(Index index, double rate) throws InterruptedException {
        Parameters.Machine machine = parameters.machine(MACHINES.getFirst()).withDomains(maxDomains());
        int window = extent.searchesPerWindow;
        Traces open = traces(index).with(spec -> spec.withLoad(1, rate).withDrift(window * WINDOWS_PER_DRIFT, 1));
        Study study = new Study(
                open,
                parameters.tasks(),
                (long) window * extent.windows,
                WindowLength.ofSearches(window),
                Matrix.KNOWN,
                extent.sample);
        List<Callable<SimResult>> simulations = SERVING.stream()
                .map(policy -> study.on(machine, DomainLevel.L3, policy))
                .toList();
        return new Timeline(index, rate, Study.runAll(simulations, done -> {}));
    }

    private Variants variants(Index index) throws InterruptedException {
        List<Assumption> assumptions = new ArrayList<>();
        assumptions.add(Assumption.NONE);
        assumptions.addAll(Assumption.all().subList(0, extent.assumptions));
        Parameters.Machine machine = parameters.machine(MACHINES.getFirst());
        List<Callable<SimResult>> simulations = new ArrayList<>();
        for (Assumption assumption : assumptions) {
            for (int domains : List.of(extent.domains.getFirst(), maxDomains())) {
                Parameters.Machine part = assumption.machine().apply(machine.withDomains(domains));
                Traces traces = assumption.traces().apply(loaded(traces(index), part));
                Study study = study(traces, assumption.tasks().apply(parameters.tasks()));
                List<Policy> policies = domains == maxDomains() ? POLICIES : Policy.parse("v0");
                policies.forEach(policy -> simulations.add(study.on(part, DomainLevel.L3, policy)));
            }
        }
        List<SimResult> results = Study.runAll(simulations, done -> {});
        int each = results.size() / assumptions.size();
        return new Variants(
                index,
                IntStream.range(0, assumptions.size())
                        .mapToObj(i -> variant(assumptions.get(i), index, results.subList(i * each, (i + 1) * each)))
                        .toList());
    }

    private static Variant variant(Assumption assumption, Index index, List<SimResult> results) {
        List<SimResult> whole = results.stream().map(SimResult::withoutDetails).toList();
        return new Variant(assumption.name(), PaperFigures.of(index, whole), whole);
    }

    /**
     * The figures of some regimes as a page and as lines of text.
     *
     * @param html a page without scripts
     * @param lines the comparisons with the paper
     */
    public record Report(String html, List<String> lines) {}

    /**
     * Simulates the figures of some regimes.
     *
     * @param command shown on the page as the command that made it
     * @throws InterruptedException if interrupted
     */
    public static Report report(Parameters parameters, List<Regime> regimes, Extent extent, String command)
            throws InterruptedException {
        List<Found> found = new ArrayList<>();
        for (Regime regime : regimes) {
            found.add(new Figures(parameters, regime, extent).run());
        }
        return new Report(FigurePage.of(found, command), FigurePage.lines(found));
    }
}
