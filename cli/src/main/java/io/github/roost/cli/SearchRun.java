package io.github.roost.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.OrdinalRows;
import io.github.roost.bench.Recall;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.server.input.HdfVectors;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.server.input.VectorInput;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One run of {@code search}: checks options, reads files, builds or opens the table, then for each k and effort warms up, measures and reports. */
final class SearchRun {
    private static final Duration NO_LIMIT = Duration.ofDays(365);
    private static final int RING = 1 << 14;
    /** Marks a missing neighbor. */
    private static final int NONE = -1;

    private final SearchOptions options;
    private final IndexPlan plan;
    private final Streams streams;
    /** Read before a table is built, so that invalid input is rejected at once. */
    private int @Nullable [][] truth;

    SearchRun(SearchOptions options, IndexPlan plan, Streams streams) {
        this.options = options;
        this.plan = plan;
        this.streams = streams;
    }

    int run() throws IOException, InterruptedException {
        options.check();
        plan.check(options.base != null);
        if (options.out == null) {
            search(null);
        } else {
            requireOneEffort();
            try (OutputFile out = OutputFile.prepare("--out", options.out)) {
                search(out);
            }
        }
        return 0;
    }

    private void requireOneEffort() {
        int efforts = plan.requested.size();
        if (efforts > 1) {
            throw new CommandFailure("--" + plan.effortName() + " must be one value with --out, got " + efforts);
        }
    }

    private void search(@Nullable OutputFile out) throws IOException, InterruptedException {
        float[][] queries = queries();
        try (Orchestrator orchestrator = orchestrator()) {
            long began = System.nanoTime();
            try (VectorTable table = table(orchestrator, queries)) {
                double seconds = (System.nanoTime() - began) / 1e9;
                search(table, queries, seconds, orchestrator.workers(), out);
            }
        }
    }

    /** A closed loop must not be rejected: it waits when rings are full. */
    private static Orchestrator orchestrator() {
        return Orchestrator.builder()
                .recallShare(0)
                .topology(TopologyReader.live().read())
                .ringCapacity(RING)
                .overloadPolicy(OverloadPolicy.block(NO_LIMIT))
                .build();
    }

    private float[][] queries() throws IOException {
        try (VectorInput input = VectorInput.queries(options.query)) {
            VectorSource vectors = input.vectors();
            float[][] rows = new float[vectors.size()][];
            for (int row = 0; row < rows.length; row++) {
                rows[row] = vectors.row(row);
            }
            return rows;
        }
    }

    private VectorTable table(Orchestrator orchestrator, float[][] queries) throws IOException, InterruptedException {
        String saved = options.table;
        if (saved != null) {
            VectorTable table = plan.open(orchestrator, saved);
            try {
                // Ids may be any numbers, so the truth may have any.
                fit(saved, queries, table.dimension(), table.size(), Integer.MAX_VALUE);
                requireCosines(queries, table.metric());
                return table;
            } catch (RuntimeException | IOException misfit) {
                table.close();
                throw misfit;
            }
        }
        Path base = options.base();
        try (VectorInput input = VectorInput.rows(base)) {
            VectorSource all = input.vectors();
            Metric metric = options.metric();
            requireCosines(queries, metric);
            NumberedRows rows = options.zeros.rows(base, all, metric, streams);
            fit(base.toString(), queries, all.dimension(), rows.size(), all.size());
            plan.fit(rows.size());
            return TableBuilding.await(streams, plan.start(orchestrator, metric, rows), rows.size());
        }
    }

    private void requireCosines(float[][] queries, Metric metric) {
        for (int row = 0; metric == Metric.COSINE && row < queries.length; row++) {
            if (NumberedRows.isZero(queries[row])) {
                throw new CommandFailure("--query must have no zeros under cosine, but row " + row + " of "
                        + options.query + " is zero");
            }
        }
    }

    /** @param ordinals the truth's are below this */
    private void fit(String source, float[][] queries, int sourceDimension, int size, int ordinals) throws IOException {
        int dimension = queries[0].length;
        String option = options.table == null ? "--base" : "--table";
        if (dimension != sourceDimension) {
            throw new CommandFailure("--query must have the dimension of " + option + ": " + options.query + " has "
                    + dimension + ", " + source + " has " + sourceDimension);
        }
        for (int k : options.k) {
            if (k > size) {
                throw new CommandFailure("--k must be between 1 and the " + (options.table == null ? "base" : "table")
                        + "'s size of " + size + ", got " + k);
            }
        }
        if (options.truth != null) {
            truth = truth(options.truth, queries.length, ordinals);
        }
    }

    private int[][] truth(Path file, int queries, int ordinals) throws IOException {
        if (!HdfVectors.isNamed(file)) {
            return OrdinalRows.readTruth(file, queries, options.maxNeighbors(), ordinals);
        }
        try (HdfVectors neighbors = HdfVectors.open(file, HdfVectors.NEIGHBORS)) {
            return OrdinalRows.readTruth(file, neighbors, queries, options.maxNeighbors(), ordinals);
        }
    }

    private void search(VectorTable table, float[][] queries, double seconds, int workers, @Nullable OutputFile out)
            throws IOException, InterruptedException {
        int[][] known = truth;
        if (!options.json) {
            streams.out().print(head(queries.length, seconds, workers, known != null));
        }
        for (int k : options.k) {
            tellRaised(table, k);
            for (int effort : plan.efforts(table, k)) {
                SearchResult[] found = new SearchResult[queries.length];
                ClosedLoop.Run run = measure(table, queries, k, effort, found);
                Double recall = known == null ? null : Recall.byId(known, found, k);
                if (out != null) {
                    out.write(file -> OrdinalRows.write(file, ordinals(found, k)));
                }
                print(report(run, queries.length, k, effort, seconds, workers, recall));
            }
        }
    }

    private void tellRaised(VectorTable table, int k) {
        String small = plan.requested.stream()
                .filter(effort -> effort < table.minEffort(k))
                .map(String::valueOf)
                .collect(Collectors.joining(", "));
        if (!small.isEmpty()) {
            streams.err()
                    .println("k " + k + ": " + plan.effortName() + " must be at least " + table.minEffort(k)
                            + ", which is measured instead of " + small);
        }
    }

    /** Measures for a given time and at least one pass over all queries; the first pass supplies the neighbors found. */
    private ClosedLoop.Run measure(VectorTable table, float[][] queries, int k, int effort, SearchResult[] found)
            throws InterruptedException {
        ClosedLoop loop = new ClosedLoop(options.inFlight);
        ClosedLoop.Search<SearchResult> search =
                number -> table.search(queries[(int) (number % queries.length)], k, effort);
        loop.run(Long.MAX_VALUE, options.warmUp(), search, (number, result) -> {});
        ClosedLoop.Run once =
                loop.run(queries.length, NO_LIMIT, search, (number, result) -> found[(int) number] = result);
        return once.elapsed().compareTo(options.measured()) >= 0
                ? once
                : loop.run(Long.MAX_VALUE, options.measured(), search, (number, result) -> {});
    }

    private SearchReport report(
            ClosedLoop.Run run, int queries, int k, int effort, double seconds, int workers, @Nullable Double recall) {
        boolean opened = options.table != null;
        return new SearchReport(
                opened ? null : seconds,
                opened ? seconds : null,
                queries,
                k,
                effort,
                options.inFlight,
                workers,
                run.perSecond(),
                run.latencies().p50us(),
                run.latencies().p99us(),
                run.latencies().p999us(),
                recall);
    }

    private String head(int queries, double seconds, int workers, boolean hasTruth) {
        return String.format(
                Locale.ROOT,
                "%s in %.3f s%n%,d queries, %d in flight on %d workers%n%6s %8s %s%12s %10s %10s %10s%n",
                options.table == null ? "built" : "opened",
                seconds,
                queries,
                options.inFlight,
                workers,
                "k",
                plan.effortName(),
                hasTruth ? "%8s".formatted("recall") : "",
                "queries/s",
                "p50 us",
                "p99 us",
                "p99.9 us");
    }

    private void print(SearchReport report) throws IOException {
        if (options.json) {
            streams.out().println(new ObjectMapper().writeValueAsString(report));
            return;
        }
        streams.out()
                .printf(
                        Locale.ROOT,
                        "%6d %8d %s%,12.0f %,10.0f %,10.0f %,10.0f%n",
                        report.k(),
                        report.effort(),
                        report.recall() == null ? "" : String.format(Locale.ROOT, "%8.4f", report.recall()),
                        report.qps(),
                        report.p50us(),
                        report.p99us(),
                        report.p999us());
    }

    private static int[][] ordinals(SearchResult[] found, int k) {
        return Arrays.stream(found)
                .map(row -> {
                    int[] ordinals = new int[k];
                    Arrays.setAll(ordinals, i -> i < row.size() ? ordinal(row.ids()[i]) : NONE);
                    return ordinals;
                })
                .toArray(int[][]::new);
    }

    private static int ordinal(long id) {
        if (id > Integer.MAX_VALUE) {
            throw new CommandFailure("--out: row id " + id + " does not fit an ivecs file's 32 bits");
        }
        return (int) id;
    }

    /**
     * The measurements of {@code search} with one k and one effort.
     *
     * @param buildSeconds time to build the index, or null if it was opened
     * @param openSeconds time to open the index, or null if it was built
     * @param queries number of different queries
     * @param k neighbors per query
     * @param effort the effort, such as ef or nprobe
     * @param inFlight queries in flight at a time
     * @param workers number of workers
     * @param qps queries per second
     * @param p50us median latency in microseconds
     * @param p99us 99th percentile in microseconds
     * @param p999us 99.9th percentile in microseconds
     * @param recall recall@k by ordinal, or null without ground truth
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record SearchReport(
            @Nullable Double buildSeconds,
            @Nullable Double openSeconds,
            int queries,
            int k,
            int effort,
            int inFlight,
            int workers,
            double qps,
            double p50us,
            double p99us,
            double p999us,
            @Nullable Double recall) {}
}
