package io.github.roost.bench.jvector;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.jvector.JvectorTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Question: how many searches per second do many jvector graphs answer on Roost's workers, relative to the same searches on {@link ForkJoinPool}?
 * Both run jvector's own searcher on the same graphs and vectors. Roost runs them without homes (v1) and at home (v2-gated). The contenders
 * alternate in one process, in reversed order every other round; the baseline is the same round's rate on {@link ForkJoinPool}. Queries go to all
 * tables alike, at random.
 */
@Command(
        name = "jvector",
        description = "Searches per second of many jvector graphs, on Roost's workers relative to ForkJoinPool.")
public final class JvectorBench implements Callable<Integer> {
    /** The searches on {@link ForkJoinPool}. */
    static final String BASELINE = "fork-join";

    private static final List<String> SCHEDULINGS = List.of("v1", "v2-gated");
    private static final int K = 10;
    private static final int QUERIES = 1_000;
    private static final int CENTERS = 20;
    private static final long SEED = 45;

    private final @Mixin LevelOption level = new LevelOption();
    private final @Mixin NumberOption tables = NumberOption.tables(60);
    private final @Mixin NumberOption rows = NumberOption.rows(1_000, 1, 10_000_000);
    private final @Mixin NumberOption dimension = NumberOption.dimension(64, 2, 4_096);
    private final @Mixin NumberOption ef = NumberOption.ef(50, Vectors.MAX_EF);
    private final @Mixin NumberOption inFlight = NumberOption.inFlight(64, 1_000_000);
    private final @Mixin RoundOptions rounds = new RoundOptions(10, 500);
    private final @Mixin Output output = new Output();

    @Override
    public Integer call() throws IOException, InterruptedException {
        NumberOption.check(tables, rows, dimension, ef, inFlight);
        rounds.check();
        Topology machine = level.machine();
        int domains = machine.domains().size();
        output.format(
                "%d graphs of %d x %d, k %d, ef %d, %d domains by %s",
                tables.value(), rows.value(), dimension.value(), K, ef.value(), domains, machine.level());
        Map<String, List<Double>> rates = run(machine);
        List<Double> baseline = rates.getOrDefault(BASELINE, List.of());
        output.line("                        searches/s: median (min to max)    ratio to " + BASELINE
                + " of the same round");
        rates.forEach((name, each) -> output.format(
                "%-15s %39s    %s",
                name,
                Samples.of(each).spread("%.0f"),
                Samples.ratios(each, baseline).spread("%.2f")));
        return 0;
    }

    /** Finds the ids of the nearest rows of a table. */
    @FunctionalInterface
    private interface Search {
        CompletableFuture<long[]> start(int table, float[] query);
    }

    /** One way to run the searches, and its searches per second of every round. */
    private record Contender(String name, Search search, List<Double> rates) {
        Contender(String name, Search search) {
            this(name, search, new ArrayList<>());
        }
    }

    /** Searches per second of every round, by contender, the baseline first. */
    Map<String, List<Double>> run(Topology machine) throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(SEED);
        Mixture mixture = Mixture.of(CENTERS, dimension.value(), random);
        List<Graph> graphs = new ArrayList<>();
        for (int table = 0; table < tables.value(); table++) {
            graphs.add(new Graph(mixture.draw(rows.value(), random)));
        }
        float[][] queries = mixture.draw(QUERIES, random);
        int threads = machine.domains().stream()
                .mapToInt(domain -> domain.cores().size())
                .sum();
        List<AutoCloseable> opened = new ArrayList<>();
        try (ForkJoinPool pool = new ForkJoinPool(threads)) {
            List<Contender> contenders = new ArrayList<>();
            contenders.add(new Contender(
                    BASELINE,
                    (table, query) -> CompletableFuture.supplyAsync(
                            () -> graphs.get(table).search(query, K, ef.value()), pool)));
            for (String scheduling : SCHEDULINGS) {
                contenders.add(new Contender("roost " + scheduling, onRoost(machine, scheduling, graphs, opened)));
            }
            contenders.forEach(contender -> requireEqual(contender, graphs, queries));
            return measure(contenders, queries);
        } finally {
            closeAll(opened);
        }
    }

    private Search onRoost(Topology machine, String scheduling, List<Graph> graphs, List<AutoCloseable> opened) {
        Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(machine)
                .scheduling(Schedulings.named(scheduling).orElseThrow())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
        opened.addFirst(orchestrator);
        List<JvectorTable> made = new ArrayList<>();
        for (Graph graph : graphs) {
            JvectorTable table =
                    JvectorTable.builder().name("table-" + made.size()).build(orchestrator, graph.index, graph.vectors);
            opened.addFirst(table);
            made.add(table);
        }
        return (table, query) -> made.get(table)
                .search(SearchRequest.of(query, K).effort(ef.value()))
                .thenApply(found -> found.ids());
    }

    private static void closeAll(List<AutoCloseable> opened) {
        for (AutoCloseable each : opened) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Checks one answer of every table. */
    private void requireEqual(Contender contender, List<Graph> graphs, float[][] queries) {
        for (int table = 0; table < tables.value(); table++) {
            float[] query = queries[table % queries.length];
            long[] found = contender.search().start(table, query).join();
            long[] alone = graphs.get(table).search(query, K, ef.value());
            if (!Arrays.equals(found, alone)) {
                throw new IllegalStateException(contender.name() + " must find " + Arrays.toString(alone) + " in table "
                        + table + ", as jvector alone, got " + Arrays.toString(found));
            }
        }
    }

    private Map<String, List<Double>> measure(List<Contender> contenders, float[][] queries)
            throws InterruptedException {
        // Two unmeasured rounds, for the JIT and for the tables' homes.
        for (int round = -2; round < rounds.count(); round++) {
            for (Contender contender : round % 2 == 0 ? contenders : contenders.reversed()) {
                double rate = perSecond(contender.search(), queries);
                if (round >= 0) {
                    contender.rates().add(rate);
                }
            }
        }
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        contenders.forEach(contender -> rates.put(contender.name(), contender.rates()));
        return rates;
    }

    private double perSecond(Search search, float[][] queries) throws InterruptedException {
        return new ClosedLoop(inFlight.value())
                .run(
                        Long.MAX_VALUE,
                        rounds.slice(),
                        number -> {
                            long drawn = new SplittableRandom(number).nextLong();
                            return search.start(
                                    (int) Long.remainderUnsigned(drawn, tables.value()),
                                    queries[(int) (number % queries.length)]);
                        },
                        (number, found) -> {})
                .perSecond();
    }
}
