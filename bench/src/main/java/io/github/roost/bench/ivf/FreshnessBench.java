package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Run;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.IvfDataOptions;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Questions: how long does it take to add a row to a table whose searches saturate the workers, and how much slower do adds make the searches?
 * Slices with and without adds alternate; their order is reversed every other round.
 */
@Command(
        name = "freshness",
        description = "Time to add a row to an IVF table while searches saturate the workers, and the effect of adds on"
                + " searches.")
@SuppressWarnings("NullAway.Init")
public final class FreshnessBench implements Callable<Integer> {
    private static final long LONGEST_ADD_NANOS = 60_000_000_000L;
    /** Warm-up until the code of adds is compiled: it runs only a few times per second, on the cores on which searches are measured. */
    private static final int SLICES_BEFORE = 8;

    private final @Mixin IvfDataOptions data = new IvfDataOptions();

    @Option(names = "--nprobe", paramLabel = "N", description = "Lists per search; default 8.")
    private int nprobe = 8;

    private final @Mixin NumberOption k = NumberOption.k(10_000);
    private final @Mixin NumberOption inFlight = NumberOption.inFlight(64, 1_000_000);

    @Option(names = "--adds-per-second", paramLabel = "N", description = "Rows added per second; default 1000.")
    private int addsPerSecond = 1_000;

    private final @Mixin RoundOptions rounds = new RoundOptions(8, 1_000);
    private final @Mixin JsonOutput output = new JsonOutput();

    private final SplittableRandom random = new SplittableRandom(1);
    private Workload workload;
    private IvfTable table;
    private long nextId;

    @Override
    public Integer call() throws Exception {
        data.check();
        Options.require("--nprobe", nprobe, 1, data.nlist());
        NumberOption.check(k, inFlight);
        Options.require("--adds-per-second", addsPerSecond, 1, 1_000_000);
        rounds.check();
        workload = data.workload();
        nextId = workload.rows().length;
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(TopologyReader.live().read())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build()) {
            table = IvfTable.builder().nlist(data.nlist()).nprobe(1).build(orchestrator, workload.rows());
            Result result = measure();
            output.format(
                    "%s, nlist %d, nprobe %d, k %d, %d searches in flight, %d adds/s",
                    workload.name(), data.nlist(), nprobe, k.value(), inFlight.value(), addsPerSecond);
            output.format(
                    "%,d adds: P50 %.1f us, P99 %.1f us, P999 %.1f us",
                    result.adds(),
                    result.add().p50us(),
                    result.add().p99us(),
                    result.add().p999us());
            output.format(
                    "searches' P99 us: without adds %s, with adds %s; medians (min to max) of rounds",
                    result.quietP99().spread("%.0f"), result.busyP99().spread("%.0f"));
            output.format(
                    "with adds over without, round by round: P99 %s, searches/s %s",
                    result.p99Ratio().spread("%.2f"), result.rateRatio().spread("%.2f"));
            output.print(Map.of("workload", workload.name(), "nlist", data.nlist(), "result", result));
        }
        return 0;
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

    private Result measure() throws InterruptedException {
        Histogram adds = new Histogram(LONGEST_ADD_NANOS, 3);
        List<Double> quiet = new ArrayList<>();
        List<Double> busy = new ArrayList<>();
        List<Double> p99 = new ArrayList<>();
        List<Double> rate = new ArrayList<>();
        for (int slices = 0; slices < SLICES_BEFORE; slices++) {
            searchWhileAdding(new Histogram(adds));
        }
        for (int round = 0; round < rounds.count(); round++) {
            boolean quietFirst = round % 2 == 0;
            Run first = quietFirst ? search() : searchWhileAdding(adds);
            Run second = quietFirst ? searchWhileAdding(adds) : search();
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

    private Run search() throws InterruptedException {
        float[][] queries = workload.queries();
        return new ClosedLoop(inFlight.value())
                .run(
                        Long.MAX_VALUE,
                        rounds.slice(),
                        number -> table.search(queries[(int) (number % queries.length)], k.value(), nprobe),
                        (number, found) -> {});
    }

    private Run searchWhileAdding(Histogram adds) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().name("roost-bench-adds").start(() -> {
            long gap = 1_000_000_000L / addsPerSecond;
            for (long due = System.nanoTime(); !done.get(); due += gap) {
                LockSupport.parkNanos(due - System.nanoTime());
                add(adds);
            }
        });
        try {
            return search();
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
}
