package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Question: how many more searches per second does a home for each table bring, if one table fits the cache of a domain and two do not? One table
 * per domain; a search reads random rows of its table. The schedulings alternate in one process, in reversed order every other round (v0 v1 .. v1
 * v0), so that drift of the machine affects all alike; the baseline is v0 of the same round.
 */
public final class LocalityBench {
    /** Searches in flight per table. */
    private static final int IN_FLIGHT = 4;

    private final Topology topology;
    private final int tableBytes;
    private final Duration slice;

    /**
     * @param topology the machine, with at least two domains
     * @param tableBytes size of each table
     * @param slice how long each scheduling runs at a time
     */
    public LocalityBench(Topology topology, int tableBytes, Duration slice) {
        if (topology.domains().size() < 2) {
            throw new IllegalArgumentException("there must be at least 2 cache domains to compare, got "
                    + topology.domains().size() + " by level " + topology.level());
        }
        this.topology = topology;
        this.tableBytes = tableBytes;
        this.slice = slice;
    }

    /** Searches per second of every round, by name of the scheduling, the baseline first. */
    public Map<String, List<Double>> run(int rounds) {
        Map<String, List<Double>> results = new LinkedHashMap<>();
        List<String> order = Schedulings.NAMES;
        // One unmeasured run of each for the JIT.
        order.forEach(this::searchesPerSecond);
        for (int round = 0; round < rounds; round++) {
            for (String scheduling : round % 2 == 0 ? order : order.reversed()) {
                results.computeIfAbsent(scheduling, none -> new ArrayList<>()).add(searchesPerSecond(scheduling));
            }
        }
        return results;
    }

    private double searchesPerSecond(String scheduling) {
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(topology)
                .scheduling(Schedulings.named(scheduling).orElseThrow())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build()) {
            AtomicLong searches = new AtomicLong();
            long begin = System.nanoTime();
            long end = begin + slice.toNanos();
            List<CompletableFuture<Void>> chains = new ArrayList<>();
            for (int table = 0; table < topology.domains().size(); table++) {
                TableLoad load = new TableLoad(
                        orchestrator,
                        orchestrator.register("table-" + table),
                        tableBytes,
                        end,
                        nanos -> searches.incrementAndGet());
                for (int i = 0; i < IN_FLIGHT; i++) {
                    chains.add(load.start(31L * table + i));
                }
            }
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            chains.forEach(CompletableFuture::join);
            return searches.get() * 1e9 / (System.nanoTime() - begin);
        }
    }
}
