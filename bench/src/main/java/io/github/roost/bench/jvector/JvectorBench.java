package io.github.roost.bench.jvector;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.jvector.JvectorTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
    private static final int MAX = 10_000_000;
    private static final long SEED = 45;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains; default ${DEFAULT-VALUE}.")
    private DomainLevel level = DomainLevel.L2;

    @Option(names = "--tables", paramLabel = "N", description = "Number of graphs; default ${DEFAULT-VALUE}.")
    private int tables = 60;

    @Option(names = "--rows", paramLabel = "N", description = "Vectors per graph; default ${DEFAULT-VALUE}.")
    private int rows = 1_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Default ${DEFAULT-VALUE}.")
    private int dimension = 64;

    @Option(names = "--ef", paramLabel = "N", description = "Width of a search for 10 rows; default ${DEFAULT-VALUE}.")
    private int ef = 50;

    @Option(names = "--in-flight", paramLabel = "N", description = "Searches in flight; default ${DEFAULT-VALUE}.")
    private int inFlight = 64;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default ${DEFAULT-VALUE}.")
    private int rounds = 10;

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per contender and round; default ${DEFAULT-VALUE}.")
    private int sliceMillis = 500;

    @Override
    public Integer call() throws IOException, InterruptedException {
        require("--tables", tables, 1);
        require("--rows", rows, 1);
        require("--dimension", dimension, 2);
        require("--ef", ef, K);
        require("--in-flight", inFlight, 1);
        require("--rounds", rounds, 1);
        require("--slice-millis", sliceMillis, 1);
        Topology machine = TopologyReader.live().level(level).read();
        print(
                "%d graphs of %d x %d, k %d, ef %d, %d domains by %s",
                tables, rows, dimension, K, ef, machine.domains().size(), machine.level());
        Map<String, List<Double>> rates = run(machine);
        List<Double> baseline = rates.getOrDefault(BASELINE, List.of());
        print("                        searches/s: median (min to max)    ratio to %s of the same round", BASELINE);
        rates.forEach((name, each) ->
                print("%-15s %39s    %s", name, spread(each, "%.0f"), spread(ratios(each, baseline), "%.2f")));
        return 0;
    }

    private static void require(String option, int value, int min) {
        if (value < min || value > MAX) {
            throw new IllegalArgumentException(option + " must be between " + min + " and " + MAX + ", got " + value);
        }
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void print(String format, Object... values) {
        spec.commandLine().getOut().println(String.format(Locale.ROOT, format, values));
    }

    private static List<Double> ratios(List<Double> rates, List<Double> baseline) {
        return IntStream.range(0, rates.size())
                .mapToObj(round -> rates.get(round) / baseline.get(round))
                .toList();
    }

    private static String spread(List<Double> values, String format) {
        Samples samples = Samples.of(values);
        return String.format(
                Locale.ROOT,
                format + " (" + format + " to " + format + ")",
                samples.median(),
                samples.least(),
                samples.most());
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
        Mixture mixture = Mixture.of(CENTERS, dimension, random);
        List<Graph> graphs = new ArrayList<>();
        for (int table = 0; table < tables; table++) {
            graphs.add(new Graph(mixture.draw(rows, random)));
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
                            () -> graphs.get(table).search(query, K, ef), pool)));
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
        return (table, query) ->
                made.get(table).search(SearchRequest.of(query, K).effort(ef)).thenApply(found -> found.ids());
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
        for (int table = 0; table < tables; table++) {
            float[] query = queries[table % queries.length];
            long[] found = contender.search().start(table, query).join();
            long[] alone = graphs.get(table).search(query, K, ef);
            if (!Arrays.equals(found, alone)) {
                throw new IllegalStateException(contender.name() + " must find " + Arrays.toString(alone) + " in table "
                        + table + ", as jvector alone, got " + Arrays.toString(found));
            }
        }
    }

    private Map<String, List<Double>> measure(List<Contender> contenders, float[][] queries)
            throws InterruptedException {
        // Two unmeasured rounds, for the JIT and for the tables' homes.
        for (int round = -2; round < rounds; round++) {
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
        return new ClosedLoop(inFlight)
                .run(
                        Long.MAX_VALUE,
                        Duration.ofMillis(sliceMillis),
                        number -> {
                            long drawn = new SplittableRandom(number).nextLong();
                            return search.start(
                                    (int) Long.remainderUnsigned(drawn, tables),
                                    queries[(int) (number % queries.length)]);
                        },
                        (number, found) -> {})
                .perSecond();
    }
}
