package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ExactSearch;
import io.github.roost.bench.OrdinalRows;
import io.github.roost.bench.Recall;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One run of {@code search}: check, read, build, warm up, measure, report. */
final class SearchRun {
    /** The JVM compiles what is hot: queries before that are answered, but not measured. */
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private static final Duration NO_LIMIT = Duration.ofDays(365);
    private static final int LEAST_RING = 1 << 10;
    private static final int LARGEST_RING = 1 << 20;

    private final SearchOptions options;
    private final IndexPlan plan;
    private final Streams streams;

    SearchRun(SearchOptions options, IndexPlan plan, Streams streams) {
        this.options = options;
        this.plan = plan;
        this.streams = streams;
    }

    int run() throws IOException, InterruptedException {
        options.check();
        plan.check();
        if (options.out == null) {
            streams.out().println(search(null));
            return 0;
        }
        try (OutputFile out = OutputFile.prepare("--out", options.out)) {
            streams.out().println(search(out));
        }
        return 0;
    }

    private String search(@Nullable OutputFile out) throws IOException, InterruptedException {
        SearchInput input = SearchInput.read(options);
        plan.fit(input.base().length, options.k);
        try (Orchestrator orchestrator = orchestrator(input.queries().length)) {
            streams.err().printf("building the index of %,d vectors%n", input.base().length);
            long began = System.nanoTime();
            try (SearchableIndex index = plan.build(orchestrator, input.base())) {
                double buildSeconds = (System.nanoTime() - began) / 1e9;
                Neighbors[] found = new Neighbors[input.queries().length];
                ClosedLoop.Run run = measure(index, input, found);
                if (out != null) {
                    out.write(file -> OrdinalRows.write(file, ordinals(found)));
                }
                return render(report(input, orchestrator.workers(), buildSeconds, run, found));
            }
        }
    }

    /** Rings that hold all that can be under way: a closed loop is never to be turned away. */
    private Orchestrator orchestrator(int queries) {
        long waiting = Math.min(options.inFlight, queries) * (long) plan.tasksPerQuery();
        int ring = Math.clamp(waiting, LEAST_RING, LARGEST_RING);
        return Orchestrator.builder()
                .topology(TopologyReader.live().read())
                .ringCapacity(ring)
                .overloadPolicy(OverloadPolicy.block(NO_LIMIT))
                .build();
    }

    private ClosedLoop.Run measure(SearchableIndex index, SearchInput input, Neighbors[] found)
            throws InterruptedException {
        ClosedLoop loop = new ClosedLoop(options.inFlight);
        float[][] queries = input.queries();
        ExactSearch exact = new ExactSearch(input.base());
        ClosedLoop.Search<Neighbors> search = number -> index.searchFully(queries[(int) number], options.k, exact);
        loop.run(queries.length, WARM_UP, search, (number, result) -> {});
        return loop.run(queries.length, NO_LIMIT, search, (number, result) -> found[(int) number] = result);
    }

    private SearchReport report(
            SearchInput input, int workers, double buildSeconds, ClosedLoop.Run run, Neighbors[] found) {
        int[][] truth = input.truth();
        return new SearchReport(
                buildSeconds,
                found.length,
                options.k,
                options.inFlight,
                workers,
                run.perSecond(),
                run.latencies().p50us(),
                run.latencies().p99us(),
                run.latencies().p999us(),
                truth == null ? null : Recall.byId(truth, found, options.k));
    }

    private String render(SearchReport report) throws IOException {
        return options.json ? new ObjectMapper().writeValueAsString(report) : report.text();
    }

    private static int[][] ordinals(Neighbors[] found) {
        return Arrays.stream(found)
                .map(row -> Arrays.stream(row.ids()).mapToInt(Math::toIntExact).toArray())
                .toArray(int[][]::new);
    }
}
