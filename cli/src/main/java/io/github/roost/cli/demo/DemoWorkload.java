package io.github.roost.cli.demo;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.DistanceRecall;
import io.github.roost.cli.JobProgress;
import io.github.roost.cli.Streams;
import io.github.roost.cli.demo.DemoReport.Measured;
import io.github.roost.cli.demo.DemoReport.TableTraffic;
import io.github.roost.cli.demo.DemoReport.Workload;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs and measures the workload: first queries to one section's table each, then to the IVF table. */
final class DemoWorkload {
    private static final int IN_FLIGHT_PER_WORKER = 8;
    private static final double SECTION_SHARE = .6;
    private static final double IVF_SHARE = .4;

    private final Orchestrator orchestrator;
    private final DebianPackages data;
    private final DemoTables tables;
    private final DemoTruth truth;
    private final ZipfWorkload zipf;
    private final ClosedLoop loop;
    private final int k;

    DemoWorkload(Orchestrator orchestrator, DebianPackages data, DemoTables tables, DemoTruth truth, int k) {
        this.orchestrator = orchestrator;
        this.data = data;
        this.tables = tables;
        this.truth = truth;
        this.zipf = new ZipfWorkload(truth.queriesOfSection());
        this.loop = new ClosedLoop(IN_FLIGHT_PER_WORKER * orchestrator.workers());
        this.k = k;
    }

    Workload run(Duration length, Streams streams) throws InterruptedException {
        Map<String, TableStats> before =
                orchestrator.stats().tables().stream().collect(Collectors.toMap(TableStats::name, table -> table));
        Measured section;
        Measured ivf;
        try (JobProgress progress = new JobProgress(streams, "workload of " + length.toSeconds() + " s", 2)) {
            section = measure(
                    share(length, SECTION_SHARE),
                    number -> tables.searchSection(zipf.table(number), vector(zipf.query(number)), k),
                    number -> truth.amongSection(zipf.table(number), zipf.query(number)));
            progress.steps(1);
            ivf = measure(
                    share(length, IVF_SHARE),
                    number -> tables.searchAll(vector(zipf.query(number)), k),
                    number -> truth.amongAll(zipf.query(number)));
            progress.steps(1);
        }
        return new Workload(ZipfWorkload.EXPONENT, k, loop.inFlight(), section, ivf, traffic(before));
    }

    private List<TableTraffic> traffic(Map<String, TableStats> before) {
        return orchestrator.stats().tables().stream()
                .map(table -> {
                    TableStats then = before.getOrDefault(table.name(), new TableStats(table.name(), 0, 0, 0, null));
                    return new TableTraffic(
                            table.name(),
                            table.searches() - then.searches(),
                            table.trafficBytes() - then.trafficBytes());
                })
                .sorted(Comparator.comparingLong(TableTraffic::bytes).reversed().thenComparing(TableTraffic::table))
                .toList();
    }

    private static Duration share(Duration length, double share) {
        return Duration.ofMillis(Math.round(length.toMillis() * share));
    }

    private float[] vector(int query) {
        return data.queries().get(query).vector();
    }

    /** The exact answer to a search; null if it is not known. */
    @FunctionalInterface
    private interface RightAnswer {
        @Nullable
        SearchResult of(long number);
    }

    private Measured measure(Duration length, ClosedLoop.Search<SearchResult> search, RightAnswer right)
            throws InterruptedException {
        DistanceRecall recall = new DistanceRecall();
        ClosedLoop.Run run = loop.run(Long.MAX_VALUE, length, search, (number, found) -> {
            SearchResult expected = right.of(number);
            if (expected != null) {
                recall.add(expected, found);
            }
        });
        return new Measured(
                recall.share(),
                run.searches(),
                run.elapsed().toNanos() / 1e9,
                run.perSecond(),
                run.latencies().p50us(),
                run.latencies().p99us(),
                run.latencies().p999us());
    }
}
