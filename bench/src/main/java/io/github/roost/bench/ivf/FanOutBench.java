package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Search;
import io.github.roost.bench.Samples;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Question: what does a search of many lists cost beyond the sum of its scans? One worker, one search at a time. A search,
 * which has several tasks, takes turns with {@link IvfTable#searchFunction}, which is one task that scans the
 * same lists one after the other.
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
                // It must hold a task for every list: a search that comes before the worker is idle has so many.
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
     * Medians of the searches of a slice, round by round.
     *
     * @param rows in the lists that a search probes, on average
     * @param searchUs time of a search with tasks for its lists
     * @param scansUs time of one task that scans the same lists
     * @param ratio of these two
     */
    public record Result(int nprobe, double rows, Samples searchUs, Samples scansUs, Samples ratio) {}

    /** Measures one number of lists. */
    public Result measure(int k, int nprobe, int rounds, Duration slice) throws InterruptedException {
        double rows = rowsProbed(nprobe);
        List<Double> search = new ArrayList<>();
        List<Double> scans = new ArrayList<>();
        List<Double> ratio = new ArrayList<>();
        Search<Neighbors> listByList = number -> table.search(query(number), k, nprobe);
        SearchFunction<float[], Neighbors> inOnePiece = table.searchFunction(k, nprobe);
        Search<Neighbors> scansOnly = number -> orchestrator.submit(
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

    private static double median(Search<Neighbors> search, Duration slice) throws InterruptedException {
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
