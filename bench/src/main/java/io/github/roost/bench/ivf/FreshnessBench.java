package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Run;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Questions: how long does it take to add a row to a table whose searches saturate the workers, and how much slower do adds make the searches?
 * Slices with and without adds alternate; their order is reversed every other round.
 */
public final class FreshnessBench implements AutoCloseable {
    private static final long LONGEST_ADD_NANOS = 60_000_000_000L;
    /** Warm-up until the code of adds is compiled: it runs only a few times per second, on the cores on which searches are measured. */
    private static final int SLICES_BEFORE = 8;

    private final Workload workload;
    private final Orchestrator orchestrator;
    private final IvfTable table;
    private final SplittableRandom random = new SplittableRandom(1);
    private long nextId;

    public FreshnessBench(Workload workload, Topology topology, int nlist) {
        this.workload = workload;
        this.orchestrator = Orchestrator.builder()
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build();
        this.table = IvfTable.builder().nlist(nlist).nprobe(1).build(orchestrator, workload.rows());
        this.nextId = workload.rows().length;
    }

    /**
     * The results of all rounds.
     *
     * @param adds number of added rows
     * @param add latency of an add, over all rounds
     * @param quietP99 99th percentile of searches without adds, in microseconds, per round
     * @param busyP99 99th percentile of searches with adds, in microseconds, per round
     * @param p99Ratio busyP99 over quietP99, per round
     * @param rateRatio searches per second with adds over searches per second without, per round
     */
    public record Result(
            long adds, Latencies add, Samples quietP99, Samples busyP99, Samples p99Ratio, Samples rateRatio) {}

    /** The load of searches and adds. */
    public record Load(int k, int nprobe, int inFlight, int addsPerSecond) {}

    public Result measure(Load load, int rounds, Duration slice) throws InterruptedException {
        Histogram adds = new Histogram(LONGEST_ADD_NANOS, 3);
        List<Double> quiet = new ArrayList<>();
        List<Double> busy = new ArrayList<>();
        List<Double> p99 = new ArrayList<>();
        List<Double> rate = new ArrayList<>();
        for (int slices = 0; slices < SLICES_BEFORE; slices++) {
            searchWhileAdding(load, slice, new Histogram(adds));
        }
        for (int round = 0; round < rounds; round++) {
            boolean quietFirst = round % 2 == 0;
            Run first = quietFirst ? search(load, slice) : searchWhileAdding(load, slice, adds);
            Run second = quietFirst ? searchWhileAdding(load, slice, adds) : search(load, slice);
            Run without = quietFirst ? first : second;
            Run with = quietFirst ? second : first;
            quiet.add(without.latencies().p99us());
            busy.add(with.latencies().p99us());
            p99.add(with.latencies().p99us() / without.latencies().p99us());
            rate.add(with.perSecond() / without.perSecond());
        }
        return new Result(
                adds.getTotalCount(),
                Latencies.ofNanos(adds),
                Samples.of(quiet),
                Samples.of(busy),
                Samples.of(p99),
                Samples.of(rate));
    }

    private Run search(Load load, Duration slice) throws InterruptedException {
        float[][] queries = workload.queries();
        return new ClosedLoop(load.inFlight())
                .run(
                        Long.MAX_VALUE,
                        slice,
                        number -> table.search(queries[(int) (number % queries.length)], load.k(), load.nprobe()),
                        (number, found) -> {});
    }

    private Run searchWhileAdding(Load load, Duration slice, Histogram adds) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().name("roost-bench-adds").start(() -> {
            long gap = 1_000_000_000L / load.addsPerSecond();
            for (long due = System.nanoTime(); !done.get(); due += gap) {
                LockSupport.parkNanos(due - System.nanoTime());
                add(adds);
            }
        });
        try {
            return search(load, slice);
        } finally {
            done.set(true);
            writer.join();
        }
    }

    /** Adds a row near an existing one, so that lists grow in proportion to their size. */
    private void add(Histogram adds) {
        float[] row = workload.rows()[random.nextInt(workload.rows().length)].clone();
        row[random.nextInt(row.length)] += 1e-3f;
        long began = System.nanoTime();
        table.add(nextId++, row);
        adds.recordValue(Math.min(LONGEST_ADD_NANOS, System.nanoTime() - began));
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
