package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.Samples;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Question: what does a search of many lists cost beyond the sum of its scans? One worker, one search at a time. A search
 * of a table of many lists takes turns with one of a table that has the same rows in one list, which one task scans: its
 * time a row, times the rows in the lists probed, is the sum of the scans.
 */
public final class FanOutBench implements AutoCloseable {
    private final Workload workload;
    private final Orchestrator orchestrator;
    private final IvfTable lists;
    private final IvfTable oneList;

    /** @param machine of which one core is used */
    public FanOutBench(Workload workload, Topology machine, int nlist) {
        this.workload = workload;
        this.orchestrator = Orchestrator.builder()
                .topology(oneCore(machine))
                // Its ring must hold a task for every list.
                .ringCapacity(Math.max(64, 2 * Integer.highestOneBit(nlist)))
                .build();
        this.lists = table("lists", nlist);
        this.oneList = table("one list", 1);
    }

    private IvfTable table(String name, int nlist) {
        return IvfTable.builder().name(name).nlist(nlist).nprobe(1).build(orchestrator, workload.rows());
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
     * @param searchUs time of a search of many lists
     * @param scansUs the sum of its scans
     * @param ratio of these two
     */
    public record Result(int nprobe, double rows, Samples searchUs, Samples scansUs, Samples ratio) {}

    /** Measures one number of lists. */
    public Result measure(int k, int nprobe, int rounds, Duration slice) throws InterruptedException {
        double rows = rowsProbed(nprobe);
        List<Double> search = new ArrayList<>();
        List<Double> scans = new ArrayList<>();
        List<Double> ratio = new ArrayList<>();
        median(lists, k, nprobe, slice);
        median(oneList, k, 1, slice);
        for (int round = 0; round < rounds; round++) {
            search.add(median(lists, k, nprobe, slice));
            scans.add(median(oneList, k, 1, slice) / workload.rows().length * rows);
            ratio.add(search.getLast() / scans.getLast());
        }
        return new Result(nprobe, rows, Samples.of(search), Samples.of(scans), Samples.of(ratio));
    }

    private double rowsProbed(int nprobe) {
        return Arrays.stream(workload.queries())
                .mapToLong(query -> Arrays.stream(lists.probes(query, nprobe))
                        .mapToLong(lists::listSize)
                        .sum())
                .average()
                .orElseThrow();
    }

    private double median(IvfTable table, int k, int nprobe, Duration slice) throws InterruptedException {
        float[][] queries = workload.queries();
        return new ClosedLoop(1)
                .run(
                        Long.MAX_VALUE,
                        slice,
                        number -> table.search(queries[(int) (number % queries.length)], k, nprobe),
                        (number, found) -> {})
                .latencies()
                .p50us();
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
