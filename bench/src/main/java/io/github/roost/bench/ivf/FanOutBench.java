package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Search;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.IvfDataOptions;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: what is the overhead of a search of many lists beyond the sum of its scans? Setup: one worker, one search at a time. The search has
 * several tasks. Baseline: {@link IvfTable#searchFunction}, one task that scans the same lists one after the other; the two alternate.
 */
@Command(
        name = "fan-out",
        description = "Time of a single search of many lists on one worker, relative to the sum of its scans.")
@SuppressWarnings("NullAway.Init")
public final class FanOutBench implements Callable<Integer> {
    private final @Mixin IvfDataOptions data = new IvfDataOptions();

    @Option(names = "--nprobe", paramLabel = "N", split = ",", description = "Lists per search; default 8,32,128.")
    private List<Integer> nprobe = List.of(8, 32, 128);

    private final @Mixin NumberOption k = NumberOption.k(10_000);
    private final @Mixin RoundOptions rounds = new RoundOptions(5, 500);
    private final @Mixin JsonOutput output = new JsonOutput();

    private Workload workload;
    private Orchestrator orchestrator;
    private IvfTable table;

    @Override
    public Integer call() throws Exception {
        data.check();
        nprobe.forEach(probes -> Options.require("--nprobe", probes, 1, data.nlist()));
        NumberOption.check(k);
        rounds.check();
        workload = data.workload();
        List<Result> results = new ArrayList<>();
        try (Orchestrator running = start(TopologyReader.live().read())) {
            orchestrator = running;
            table = IvfTable.builder().nlist(data.nlist()).nprobe(1).build(running, workload.rows());
            output.format("%s, nlist %d, k %d, one worker", workload.name(), data.nlist(), k.value());
            output.line(
                    "nprobe     rows  search us: median (min to max)     sum of its scans us                 ratio");
            for (int probes : nprobe) {
                Result result = measure(probes);
                results.add(result);
                output.format(
                        "%6d %8.0f  %27s %26s %21s",
                        probes,
                        result.rows(),
                        result.searchUs().spread("%.0f"),
                        result.scansUs().spread("%.0f"),
                        result.ratio().spread("%.2f"));
            }
        }
        output.print(Map.of("workload", workload.name(), "nlist", data.nlist(), "k", k.value(), "results", results));
        return 0;
    }

    private Orchestrator start(Topology machine) {
        return Orchestrator.builder()
                .recallShare(0)
                .topology(oneCore(machine))
                // The ring must hold one task per list: a search submitted before the worker is idle queues that many.
                .ringCapacity(Math.max(64, 2 * Integer.highestOneBit(data.nlist())))
                .build();
    }

    private static Topology oneCore(Topology machine) {
        CacheDomain first = machine.domains().getFirst();
        CacheDomain domain = new CacheDomain(
                0,
                first.cacheBytes(),
                first.numaNodes(),
                first.packageId(),
                List.of(first.cores().getFirst()));
        return new Topology(machine.source(), machine.level(), machine.bindable(), List.of(domain));
    }

    /**
     * Medians of the searches of each slice, over the rounds.
     *
     * @param nprobe lists per search
     * @param rows mean number of rows in the lists that a search probes
     * @param searchUs time of a search with one task per list, in microseconds
     * @param scansUs time of one task that scans the same lists, in microseconds
     * @param ratio searchUs over scansUs
     */
    public record Result(int nprobe, double rows, Samples searchUs, Samples scansUs, Samples ratio) {}

    /** Measures one nprobe. */
    private Result measure(int nprobe) throws InterruptedException {
        double rows = rowsProbed(nprobe);
        List<Double> search = new ArrayList<>();
        List<Double> scans = new ArrayList<>();
        List<Double> ratio = new ArrayList<>();
        Search<SearchResult> listByList = number -> table.search(query(number), k.value(), nprobe);
        SearchFunction<float[], SearchResult> inOnePiece = table.searchFunction(k.value(), nprobe);
        Search<SearchResult> scansOnly = number -> orchestrator.submit(
                inOnePiece, query(number), table.registration().id(0));
        median(listByList, rounds.slice());
        median(scansOnly, rounds.slice());
        for (int round = 0; round < rounds.count(); round++) {
            search.add(median(listByList, rounds.slice()));
            scans.add(median(scansOnly, rounds.slice()));
            ratio.add(search.getLast() / scans.getLast());
        }
        return new Result(nprobe, rows, Samples.of(search), Samples.of(scans), Samples.of(ratio));
    }

    private double rowsProbed(int nprobe) {
        return Arrays.stream(workload.queries())
                .mapToLong(query -> Arrays.stream(table.probes(query, nprobe))
                        .mapToLong(table::listSize)
                        .sum())
                .average()
                .orElseThrow();
    }

    private float[] query(long number) {
        return workload.queries()[(int) (number % workload.queries().length)];
    }

    private static double median(Search<SearchResult> search, Duration slice) throws InterruptedException {
        return new ClosedLoop(1)
                .run(Long.MAX_VALUE, slice, search, (number, found) -> {})
                .latencies()
                .p50us();
    }
}
