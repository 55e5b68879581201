package io.github.roost.bench.locality;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Question: how many more searches per second does a home for each table bring, if one table fits the cache of a domain and two do not? One table
 * per domain; a search reads random rows of its table. The schedulings alternate in one process, in reversed order every other round (v0 v1 .. v1
 * v0), so that drift of the machine affects all alike; the baseline is v0 of the same round.
 */
@Command(
        name = "locality",
        description =
                "Searches per second of v0, v1, v2 and v2-gated; one table fits into a domain's cache, two do not.")
public final class LocalityBench implements Callable<Integer> {
    /** Searches in flight per table. */
    private static final int IN_FLIGHT = 4;

    private final @Mixin LevelOption level = new LevelOption();
    private final @Mixin NumberOption tableKib = NumberOption.tableKib(750);
    private final @Mixin RoundOptions rounds = new RoundOptions(10, 500);
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws JsonProcessingException {
        NumberOption.check(tableKib);
        rounds.check();
        Map<String, List<Double>> results = run(level.severalDomains());
        output.line("                    searches/s              ratio to v0 of the same round");
        output.line("              min   median      max            min  median    max");
        results.forEach((scheduling, rates) -> output.format(
                "%-9s %s         %s",
                scheduling,
                spread(Samples.of(rates), "%8.0f"),
                spread(Samples.ratios(rates, results.getOrDefault(Schedulings.NAMES.getFirst(), rates)), "%6.2f")));
        output.print(Map.of("tableKib", tableKib.value(), "searchesPerSecond", results));
        return 0;
    }

    private static String spread(Samples samples, String format) {
        String all = format + " " + format + " " + format;
        return String.format(Locale.ROOT, all, samples.least(), samples.median(), samples.most());
    }

    /** Searches per second of every round, by name of the scheduling, the baseline first. */
    Map<String, List<Double>> run(Topology topology) {
        Map<String, List<Double>> results = new LinkedHashMap<>();
        List<String> order = Schedulings.NAMES;
        // One unmeasured run of each for the JIT.
        order.forEach(scheduling -> searchesPerSecond(topology, scheduling));
        for (int round = 0; round < rounds.count(); round++) {
            for (String scheduling : round % 2 == 0 ? order : order.reversed()) {
                results.computeIfAbsent(scheduling, none -> new ArrayList<>())
                        .add(searchesPerSecond(topology, scheduling));
            }
        }
        return results;
    }

    private double searchesPerSecond(Topology topology, String scheduling) {
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .scheduling(Schedulings.named(scheduling).orElseThrow())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build()) {
            AtomicLong searches = new AtomicLong();
            long begin = System.nanoTime();
            long end = begin + rounds.slice().toNanos();
            List<CompletableFuture<Void>> chains = new ArrayList<>();
            for (int table = 0; table < topology.domains().size(); table++) {
                TableLoad load = new TableLoad(
                        orchestrator,
                        orchestrator.register("table-" + table),
                        tableKib.value() << 10,
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
