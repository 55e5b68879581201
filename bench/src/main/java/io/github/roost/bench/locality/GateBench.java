package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Question: when should a task cross domains? Each gate is tested on two loads: one where crossing only harms (every
 * domain has a table that fits its cache, and searches come in bursts), and one where only crossing helps (all searches
 * are for one table, and the other domains are idle). The gates alternate, in reversed order every other round.
 */
public final class GateBench {
    private static final int BURST = 8;
    private static final long PAUSE_NANOS = 300_000;
    private static final int FLOOD = 32;
    private static final long LONGEST_NANOS = 10_000_000_000L;

    private final Topology topology;
    private final int tableBytes;
    private final Duration slice;

    /**
     * @param topology the machine, with at least two domains
     * @param tableBytes size of each table
     * @param slice how long each gate runs at a time under each load
     */
    public GateBench(Topology topology, int tableBytes, Duration slice) {
        if (topology.domains().size() < 2) {
            throw new IllegalArgumentException("there must be at least 2 cache domains to cross, got "
                    + topology.domains().size() + " by level " + topology.level());
        }
        this.topology = topology;
        this.tableBytes = tableBytes;
        this.slice = slice;
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
    public List<Outcome> run(List<CrossDomainGate> gates, int rounds) {
        List<Outcome> outcomes = gates.stream()
                .map(gate -> new Outcome(gate, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()))
                .toList();
        // One unmeasured run for the JIT.
        bursts(new Outcome(gates.getFirst(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
        for (int round = 0; round < rounds; round++) {
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
                        tableBytes,
                        System.nanoTime(),
                        recorder::recordValue));
            }
            ConcurrentLinkedQueue<CompletableFuture<Void>> searches = new ConcurrentLinkedQueue<>();
            long end = System.nanoTime() + slice.toNanos();
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
                    tableBytes,
                    begin + slice.toNanos(),
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
                .topology(topology)
                .crossDomainGate(gate)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
    }
}
