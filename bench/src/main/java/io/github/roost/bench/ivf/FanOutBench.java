package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Search;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Question: what is the overhead of a search of many lists beyond the sum of its scans? Setup: one worker, one search at a time. The search has
 * several tasks. Baseline: {@link IvfTable#searchFunction}, one task that scans the same lists one after the other; the two alternate.
 */
public final class FanOutBench implements AutoCloseable {
    private final Workload workload;
    private final Orchestrator orchestrator;
    private final IvfTable table;

    /** @param machine of which one core is used */
    public FanOutBench(Workload workload, Topology machine, int nlist) {
        this.workload = workload;
        this.orchestrator = Orchestrator.builder()
                .topology(oneCore(machine))
                // The ring must hold one task per list: a search submitted before the worker is idle queues that many.
                .ringCapacity(Math.max(64, 2 * Integer.highestOneBit(nlist)))
                .build();
        this.table = IvfTable.builder().nlist(nlist).nprobe(1).build(orchestrator, workload.rows());
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
    public Result measure(int k, int nprobe, int rounds, Duration slice) throws InterruptedException {
        double rows = rowsProbed(nprobe);
        List<Double> search = new ArrayList<>();
        List<Double> scans = new ArrayList<>();
        List<Double> ratio = new ArrayList<>();
        Search<SearchResult> listByList = number -> table.search(query(number), k, nprobe);
        SearchFunction<float[], SearchResult> inOnePiece = table.searchFunction(k, nprobe);
        Search<SearchResult> scansOnly = number -> orchestrator.submit(
                inOnePiece, query(number), table.registration().id(0));
        median(listByList, slice);
        median(scansOnly, slice);
        for (int round = 0; round < rounds; round++) {
            search.add(median(listByList, slice));
            scans.add(median(scansOnly, slice));
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

    @Override
    public void close() {
        orchestrator.close();
    }
}
