package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Run;
import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.IvfDataOptions;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many searches per second does an IVF table answer, and how fast a single search, compared with FAISS's {@code IndexIVFFlat} with as
 * many lists and threads, and with tables whose lists hold only floats, float16 or bytes? The engines alternate in rounds. Since FAISS gets all
 * queries at once, Roost's client submits searches in batches, by {@link IvfTable#searchAll}.
 */
@Command(
        name = "ivf",
        description =
                "Searches per second, and latency without load, of an IVF table, compared with FAISS's IndexIVFFlat.")
@SuppressWarnings("NullAway.Init")
public final class IvfBench implements Callable<Integer> {
    private static final int QUERIES_FOR_RECALL = 200;
    /** Long enough that scanning dominates the overhead per scan. */
    private static final int ROWS_OF_LONG_LIST = 32_768;
    /** Max queries per scan of a list. */
    private static final int GROUP = 64;

    /** The element type of the lists. */
    enum Element {
        float32,
        float16,
        int8
    }

    /** Compared libraries. */
    enum Peer {
        faiss,
        none
    }

    private final @Mixin IvfDataOptions data = new IvfDataOptions();

    @Option(
            names = "--nprobe",
            paramLabel = "N",
            split = ",",
            description = "Lists per search; default 16,32; for the mixture 8,32.")
    private List<Integer> nprobe = List.of();

    @Option(
            names = "--k",
            paramLabel = "N",
            split = ",",
            description = "Neighbors per query; default 10,100; for the mixture 100.")
    private List<Integer> ks = List.of();

    @Option(names = "--in-flight", paramLabel = "N", split = ",", description = "Searches in flight; default 64,256.")
    private List<Integer> inFlight = List.of(64, 256);

    @Option(
            names = "--element",
            paramLabel = "float32|float16|int8",
            split = ",",
            description =
                    "More tables to measure: float32 (no codes), float16, int8 (codes, best candidates compared by"
                            + " floats); default none.")
    private List<Element> elements = List.of();

    private final @Mixin RoundOptions rounds = new RoundOptions(3, 500);

    @Option(names = "--peer", paramLabel = "faiss|none", description = "none leaves out FAISS, which needs Python.")
    private Peer peer = Peer.faiss;

    private final @Mixin JsonOutput output = new JsonOutput();

    private final List<Engine> engines = new ArrayList<>();
    private Workload workload;
    private Orchestrator orchestrator;
    private @Nullable PeerProcess faiss;

    @Override
    public Integer call() throws Exception {
        nprobe = nprobe.isEmpty() ? (data.mixture() ? List.of(8, 32) : List.of(16, 32)) : nprobe;
        ks = ks.isEmpty() ? (data.mixture() ? List.of(100) : List.of(10, 100)) : ks;
        check();
        workload = data.workload();
        Path python = peer == Peer.none ? null : PeerPython.prepare(RoostHome.peer("faiss"), PeerPython.FAISS);
        List<Map<String, Object>> results = new ArrayList<>();
        List<ElementType> beside = elements.stream()
                .distinct()
                .map(element -> ElementType.valueOf(element.name().toUpperCase(Locale.ROOT)))
                .toList();
        try (Orchestrator running = Orchestrator.builder()
                        .recallShare(0)
                        .topology(TopologyReader.live().read())
                        .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                        .build();
                PeerProcess other = python == null ? null : faiss(workload, data.nlist(), running.workers(), python)) {
            orchestrator = running;
            engines.add(built("roost", ElementType.FLOAT32, true));
            for (ElementType element : beside) {
                engines.add(built(Options.name(element), element, false));
            }
            faiss = other;
            double faissBuildSeconds = other == null ? Double.NaN : other.answer();
            List<Double> buildSeconds =
                    engines.stream().map(Engine::buildSeconds).toList();
            output.format(
                    "%s, nlist %d; build %.1f s%s, FAISS %.1f s",
                    workload.name(), data.nlist(), buildSeconds.getFirst(), otherBuilds(), faissBuildSeconds);
            KernelLimit limit = kernelLimit();
            output.format(
                    "kernel %s: %.0f M pairs/s (%.0f to %.0f) with full groups and long lists",
                    limit.kernel(),
                    limit.pairsPerSecond().median() / 1e6,
                    limit.pairsPerSecond().least() / 1e6,
                    limit.pairsPerSecond().most() / 1e6);
            output.line("   k nprobe  engine in flight  recall  searches/s: median (min to max)     M pairs/s"
                    + " single: p50 us   p999 us");
            for (int k : ks) {
                for (int probes : nprobe) {
                    for (Point point : measure(k, probes)) {
                        print(k, probes, point);
                        results.add(Map.of("k", k, "nprobe", probes, "point", point));
                    }
                }
            }
            output.print(Map.of(
                    "workload",
                    workload.name(),
                    "nlist",
                    data.nlist(),
                    "buildSeconds",
                    buildSeconds,
                    "faissBuildSeconds",
                    faissBuildSeconds,
                    "kernelLimit",
                    limit,
                    "points",
                    results));
        }
        return 0;
    }

    private String otherBuilds() {
        return engines.stream()
                .skip(1)
                .map(engine -> ", %s %.1f s".formatted(engine.name(), engine.buildSeconds()))
                .collect(Collectors.joining());
    }

    private void check() {
        data.check();
        nprobe.forEach(probes -> Options.require("--nprobe", probes, 1, data.nlist()));
        ks.forEach(k -> Options.require("--k", k, 1, 10_000));
        inFlight.forEach(number -> Options.require("--in-flight", number, 1, 1_000_000));
        rounds.check();
    }

    private void print(int k, int probes, Point point) {
        output.format(
                "%4d %6d %7s %9d  %6.3f  %26s   %18.0f   %12.0f %9.0f",
                k,
                probes,
                point.engine(),
                point.inFlight(),
                point.recall(),
                point.perSecond().spread("%.0f"),
                point.pairsPerSecond() / 1e6,
                point.loneP50().median(),
                point.loneP999().median());
    }

    /** One of Roost's tables and its build time. */
    private record Engine(String name, IvfTable table, double buildSeconds) {}

    /** One engine's results per round; rates by number of searches in flight. */
    private record Series(List<List<Double>> rates, List<Double> p50, List<Double> p999) {
        Series(int numbers) {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < numbers; i++) {
                rates.add(new ArrayList<>());
            }
        }
    }

    private Engine built(String name, ElementType elementType, boolean codes) {
        long began = System.nanoTime();
        IvfTable table = IvfTable.builder()
                .name(name)
                .nlist(data.nlist())
                // Every search passes an nprobe; this skips the build's measurement of a default.
                .nprobe(1)
                .elementType(elementType)
                .codes(codes)
                .build(orchestrator, workload.rows());
        return new Engine(name, table, (System.nanoTime() - began) / 1e9);
    }

    private static PeerProcess faiss(Workload workload, int nlist, int threads, Path python) throws IOException {
        return new PeerProcess(
                "faiss",
                python,
                IvfBench.class,
                "faiss_peer.py",
                workload,
                List.of(String.valueOf(nlist), String.valueOf(threads)));
    }

    /**
     * One engine at one point.
     *
     * @param engine its name
     * @param inFlight searches in flight
     * @param recall of the nearest k, by distance
     * @param perSecond searches per second; FAISS's are of one batch in its best parallel mode
     * @param pairsPerSecond pairs of query and row per second in the median round, counting all rows of the probed lists
     * @param loneP50 median latency of a single search, in microseconds
     * @param loneP999 its 99.9th percentile, in microseconds
     */
    public record Point(
            String engine,
            int inFlight,
            double recall,
            Samples perSecond,
            double pairsPerSecond,
            Samples loneP50,
            Samples loneP999) {}

    /**
     * Pairs of query and row per second if the kernel takes nearly all the time.
     *
     * @param kernel its name
     * @param pairsPerSecond per round
     */
    public record KernelLimit(String kernel, Samples pairsPerSecond) {}

    /** Measures a FLOAT32 table with one long list per worker, with enough queries in flight to fill every group. */
    private KernelLimit kernelLimit() throws InterruptedException {
        int workers = orchestrator.workers();
        float[][] rows = Arrays.copyOf(workload.rows(), Math.min(workload.rows().length, workers * ROWS_OF_LONG_LIST));
        try (IvfTable table =
                IvfTable.builder().name("kernel limit").nlist(workers).nprobe(1).build(orchestrator, rows)) {
            Engine engine = new Engine("kernel limit", table, 0);
            double rowsScanned = rowsScanned(table, 1);
            List<Double> rates = new ArrayList<>();
            run(engine, workers * GROUP * 2, 1, 1);
            for (int round = 0; round < rounds.count(); round++) {
                rates.add(run(engine, workers * GROUP * 2, 1, 1).perSecond() * rowsScanned);
            }
            return new KernelLimit(table.kernel(), Samples.of(rates));
        }
    }

    /** Mean number of rows in the lists that a search probes. */
    private double rowsScanned(IvfTable table, int nprobe) {
        return Arrays.stream(workload.queries())
                .mapToLong(query -> Arrays.stream(table.probes(query, nprobe))
                        .mapToLong(table::listSize)
                        .sum())
                .average()
                .orElseThrow();
    }

    /** Measures one k and nprobe: Roost's tables with each number in flight, then FAISS if it is present. */
    private List<Point> measure(int k, int nprobe) throws IOException, InterruptedException {
        List<Series> series = new ArrayList<>();
        for (Engine engine : engines) {
            series.add(new Series(inFlight.size()));
            run(engine, inFlight.getLast(), k, nprobe);
        }
        Series ofFaiss = new Series(1);
        for (int round = 0; round < rounds.count(); round++) {
            for (int i = 0; i < inFlight.size(); i++) {
                for (int engine = 0; engine < engines.size(); engine++) {
                    double rate =
                            run(engines.get(engine), inFlight.get(i), k, nprobe).perSecond();
                    series.get(engine).rates().get(i).add(rate);
                }
            }
            for (int engine = 0; engine < engines.size(); engine++) {
                Latencies lone = run(engines.get(engine), 1, k, nprobe).latencies();
                series.get(engine).p50().add(lone.p50us());
                series.get(engine).p999().add(lone.p999us());
            }
            if (faiss != null) {
                ofFaiss.rates().getFirst().add(order(faiss, "rate", k, nprobe, rounds.slice()));
                ofFaiss.p50().add(order(faiss, "lone", k, nprobe, rounds.slice()));
                ofFaiss.p999().add(faiss.order("p999 0 0 0"));
            }
        }
        List<Double> recalls = recalls(k, nprobe);
        List<Point> points = new ArrayList<>();
        for (int engine = 0; engine < engines.size(); engine++) {
            for (int i = 0; i < inFlight.size(); i++) {
                points.add(point(
                        engines.get(engine), inFlight.get(i), recalls.get(engine), series.get(engine), i, nprobe));
            }
        }
        if (faiss != null) {
            points.add(point(
                    "faiss",
                    workload.queries().length,
                    recalls.getLast(),
                    ofFaiss,
                    0,
                    // The row counts of FAISS's lists are unknown; they are about the same.
                    rowsScanned(engines.getFirst().table(), nprobe)));
        }
        return points;
    }

    private Point point(Engine engine, int inFlight, double recall, Series series, int number, int nprobe) {
        return point(engine.name(), inFlight, recall, series, number, rowsScanned(engine.table(), nprobe));
    }

    private static Point point(
            String engine, int inFlight, double recall, Series series, int number, double rowsScanned) {
        Samples perSecond = Samples.of(series.rates().get(number));
        return new Point(
                engine,
                inFlight,
                recall,
                perSecond,
                perSecond.median() * rowsScanned,
                Samples.of(series.p50()),
                Samples.of(series.p999()));
    }

    private static double order(PeerProcess faiss, String what, int k, int nprobe, Duration slice) throws IOException {
        return faiss.order(String.format(Locale.ROOT, "%s %d %d %.3f", what, k, nprobe, slice.toNanos() / 1e9));
    }

    private Run run(Engine engine, int searches, int k, int nprobe) throws InterruptedException {
        float[][] queries = workload.queries();
        return new ClosedLoop(searches)
                .runBatches(
                        Long.MAX_VALUE,
                        rounds.slice(),
                        (first, count) -> engine.table()
                                .searchAll(LongStream.range(first, first + count)
                                        .mapToObj(
                                                number -> SearchRequest.of(queries[(int) (number % queries.length)], k)
                                                        .effort(nprobe))
                                        .toList()),
                        (number, found) -> {});
    }

    /** The recalls of Roost's tables, then FAISS's, or NaN without FAISS. */
    private List<Double> recalls(int k, int nprobe) throws IOException {
        ExactSearch exact = new ExactSearch(workload.rows());
        List<DistanceRecall> roost =
                engines.stream().map(engine -> new DistanceRecall()).toList();
        DistanceRecall peer = new DistanceRecall();
        int[][] byFaiss = new int[0][];
        if (faiss != null) {
            order(faiss, "search", k, nprobe, Duration.ZERO);
            byFaiss = faiss.found(k);
        }
        for (int query = 0; query < Math.min(QUERIES_FOR_RECALL, workload.queries().length); query++) {
            float[] vector = workload.queries()[query];
            SearchResult truth = exact.search(vector, k);
            for (int engine = 0; engine < engines.size(); engine++) {
                IvfTable table = engines.get(engine).table();
                roost.get(engine).add(truth, table.search(vector, k, nprobe).join());
            }
            if (faiss != null) {
                peer.add(truth, withDistances(vector, byFaiss[query]));
            }
        }
        List<Double> recalls =
                new ArrayList<>(roost.stream().map(DistanceRecall::share).toList());
        recalls.add(faiss == null ? Double.NaN : peer.share());
        return recalls;
    }

    private SearchResult withDistances(float[] query, int[] ids) {
        long[] found = new long[ids.length];
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            found[i] = ids[i];
            float[] row = workload.rows()[ids[i]];
            for (int d = 0; d < query.length; d++) {
                distances[i] += (row[d] - query[d]) * (row[d] - query[d]);
            }
        }
        return SearchResult.sorted(found, distances);
    }
}
