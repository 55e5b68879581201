package io.github.roost.index.ivf;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Step;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Answers checked requests: brings the query into stored form, chooses the lists to scan, has {@link ListScans} scan them at their homes, and merges
 * what the scans find. If rows may be missing, the search scans again. Thread-safe.
 */
final class IvfSearch {
    /** Queries of a batch that are submitted before any list is queued; few enough that workers do not wait long. */
    static final int MAX_TOGETHER = 64;
    /** Max rescans of a search whose answer lacks rows: more than one is needed only while rows keep being added or moved. */
    private static final int MAX_RESCANS = 8;

    /** A search's state across its scans: none, as each scan knows its query. */
    private static final Object STATE = new Object();

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final RowPreparation preparation;
    private final IvfRows rows;
    private final IvfMaintenance maintenance;
    private final int nprobe;
    private final ListScans scans;
    private final ListScanner scannerOfFloats;
    private final ListScanner scannerOfCodes;

    /**
     * @param nprobe of requests that set none
     * @param rerank candidates beyond k in INT8 lists, as a multiple of the root of k
     */
    IvfSearch(
            Orchestrator orchestrator,
            Registration registration,
            RowPreparation preparation,
            IvfRows rows,
            IvfMaintenance maintenance,
            ScanKernel kernel,
            int nprobe,
            double rerank) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.preparation = preparation;
        this.rows = rows;
        this.maintenance = maintenance;
        this.nprobe = nprobe;
        this.scans = new ListScans(orchestrator, registration, rows::size);
        Metric metric = preparation.metric();
        int dimension = preparation.dimension();
        boolean isHalf = preparation.element() == ElementType.FLOAT16;
        this.scannerOfFloats = new FloatScanner(kernel, metric, dimension, isHalf ? Short.BYTES : Float.BYTES);
        this.scannerOfCodes = preparation.element() == ElementType.INT8
                ? CodeScanner.approximate(kernel, metric, dimension, rerank)
                : kernel.scansCodesFaster() ? CodeScanner.exact(kernel, metric, dimension) : scannerOfFloats;
    }

    /** Depends on the lists in force: a rebuild may add codes to a table that had none. */
    private ListScanner scanner(Lists lists) {
        return lists.layout().codes() ? scannerOfCodes : scannerOfFloats;
    }

    private IvfRequest request(float[] query, SearchRequest request) {
        return IvfRequest.of(query, request, preparation.storedDistance(request.radius()));
    }

    private int probes(SearchRequest request) {
        return request.effortOr(nprobe);
    }

    /** Submits a request without a target recall. */
    CompletableFuture<SearchResult> submit(SearchRequest request) {
        float[] query = preparation.storedQuery(request.query());
        return submit(request(query, request), probes(request), request.options());
    }

    /** Submits a search for the k nearest of all rows as batch work. */
    CompletableFuture<SearchResult> submitInBatch(float[] query, int k, int probes) {
        return submit(IvfRequest.nearest(preparation.storedQuery(query), k), probes, SubmitOptions.BATCH);
    }

    private CompletableFuture<SearchResult> submit(IvfRequest request, int probes, SubmitOptions options) {
        IvfRows.View view = rows.view();
        int[] scanned = scanned(view.lists(), probes, request.vector())[0];
        if (scanned.length == 0) {
            return nothingProbed();
        }
        Plan plan = new Plan(probes, SearchCost.NONE, MAX_RESCANS, true);
        CompletableFuture<SearchResult> found =
                orchestrator.indexing().submitFork(fork(request, view, scanned, plan), STATE, options);
        maintenance.flushIfDue();
        return found;
    }

    /** The answer if no list can be probed: only if the distances to all centroids overflow to NaN. */
    private CompletableFuture<SearchResult> nothingProbed() {
        try (var _ = registration.use().hold()) {
            orchestrator.indexing().requireOpen("a search");
            return CompletableFuture.completedFuture(SearchResult.EMPTY);
        }
    }

    /** Whether searches can share scans: their options are equal, and none has a target recall. */
    static boolean canShare(List<SearchRequest> requests) {
        SubmitOptions options = requests.getFirst().options();
        return requests.stream()
                .allMatch(request -> request.options().equals(options) && Double.isNaN(request.targetRecall()));
    }

    /**
     * Submits searches that share one scan of each list that several of them probe.
     *
     * @param requests at most {@link #MAX_TOGETHER}, which {@link #canShare}
     * @return one future per request, in the same order; all have failed if the searches are refused
     */
    List<CompletableFuture<SearchResult>> submitTogether(List<SearchRequest> requests) {
        try {
            return submitOrThrow(requests);
        } catch (RuntimeException refused) {
            // Searches of earlier batches have begun: the caller must get their futures.
            return requests.stream()
                    .map(request -> CompletableFuture.<SearchResult>failedFuture(refused))
                    .toList();
        }
    }

    private List<CompletableFuture<SearchResult>> submitOrThrow(List<SearchRequest> requests) {
        IvfRows.View view = rows.view();
        int max = requests.stream().mapToInt(this::probes).max().orElseThrow();
        float[][] queries = requests.stream()
                .map(request -> preparation.storedQuery(request.query()))
                .toArray(float[][]::new);
        int[][] scanned = scanned(view.lists(), max, queries);
        List<Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult>> forks = new ArrayList<>(queries.length);
        for (int i = 0; i < queries.length; i++) {
            if (scanned[i].length > 0) {
                int probes = probes(requests.get(i));
                // The nearest come first, after the buffer if it is scanned. There may be fewer lists than probes.
                int wanted = probes + (scanned[i][0] == view.lists().bufferNumber() ? 1 : 0);
                int[] own = Arrays.copyOf(scanned[i], Math.min(wanted, scanned[i].length));
                Plan plan = new Plan(probes, SearchCost.NONE, MAX_RESCANS, queries.length == 1);
                forks.add(fork(request(queries[i], requests.get(i)), view, own, plan));
            }
        }
        List<CompletableFuture<SearchResult>> answers = orchestrator
                .indexing()
                .submitTogether(forks, STATE, requests.getFirst().options());
        maintenance.flushIfDue();
        if (answers.size() == queries.length) {
            return answers;
        }
        Iterator<CompletableFuture<SearchResult>> inTurn = answers.iterator();
        return Arrays.stream(scanned)
                .map(lists -> lists.length == 0 ? nothingProbed() : inTurn.next())
                .toList();
    }

    /** The numbers of a checked query's nearest lists, nearest first. */
    int[] probed(float[] query, int probes) {
        return probed(rows.lists(), probes, preparation.storedQuery(query))[0];
    }

    private int[][] probed(Lists lists, int probes, float[]... prepared) {
        return lists.quantizer().nearest(prepared, probes, preparation.metric());
    }

    /**
     * Per query: the buffer, if it has rows, then the lists it probes. If the buffer were last, all queries that share it
     * would be answered at once, and their callers' next queries would arrive at once too.
     */
    private int[][] scanned(Lists lists, int probes, float[]... prepared) {
        int[][] probed = probed(lists, probes, prepared);
        if (lists.buffer().isEmpty()) {
            return probed;
        }
        int[][] scanned = new int[probed.length][];
        for (int i = 0; i < scanned.length; i++) {
            scanned[i] = new int[probed[i].length + 1];
            scanned[i][0] = lists.bufferNumber();
            System.arraycopy(probed[i], 0, scanned[i], 1, probed[i].length);
        }
        return scanned;
    }

    /**
     * The parameters of a search's next scans, and what its earlier scans have cost.
     *
     * @param probes nprobe
     * @param before cost of the earlier scans
     * @param rescans number of rescans left
     * @param alone whether the query runs by itself, not with queries that are likely to probe the same lists
     */
    private record Plan(int probes, SearchCost before, int rescans, boolean alone) {
        SearchResult answer(SearchResult found) {
            return found.with(before.plus(found.cost()), found.cutShort());
        }

        Plan again(SearchCost more) {
            return new Plan(probes, before.plus(more), rescans - 1, true);
        }
    }

    /** The scans of a query and their continuation: its answer, or the scans again if rows may be missing. */
    private Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult> fork(
            IvfRequest request, IvfRows.View view, int[] scanned, Plan plan) {
        ListScanner ofLists = scanner(view.lists());
        IvfQuery<?> query = query(request, view, ofLists);
        return scans.fork(query, scanned, view.lists(), ofLists, plan.alone(), (state, done, context) -> {
            IvfQuery.Result result = query.result();
            return result.lacks() && plan.rescans() > 0
                    ? forkAgain(request.again(), plan.again(result.found().cost()))
                    : Step.done(preparation.original(plan.answer(result.found())));
        });
    }

    private Step<Object, SearchResult> forkAgain(IvfRequest request, Plan plan) {
        IvfRows.View view = rows.view();
        int[] scanned = scanned(view.lists(), plan.probes(), request.vector())[0];
        return scanned.length == 0 ? Step.done(plan.answer(SearchResult.EMPTY)) : fork(request, view, scanned, plan);
    }

    private IvfQuery<?> query(IvfRequest request, IvfRows.View view, ListScanner ofLists) {
        return ofLists.query(request.forTableOf(rows.size()), view);
    }

    /** Searches for the k nearest of all rows in this thread, which scans one list after the other. The caller has checked the query. */
    SearchResult searchHere(float[] query, int k, int probes, SearchContext context) {
        float[] prepared = preparation.storedQuery(query);
        // The calling thread need not run a task of this table.
        try (var _ = registration.use().holdFromInside()) {
            IvfRequest request = IvfRequest.nearest(prepared, k);
            Plan plan = new Plan(probes, SearchCost.NONE, MAX_RESCANS, true);
            while (true) {
                IvfQuery.Result result = scanHere(request, probes, context);
                if (!result.lacks() || plan.rescans() == 0) {
                    return preparation.original(plan.answer(result.found()));
                }
                plan = plan.again(result.found().cost());
                request = request.again();
            }
        }
    }

    private IvfQuery.Result scanHere(IvfRequest request, int probes, SearchContext context) {
        IvfRows.View view = rows.view();
        int[] scanned = scanned(view.lists(), probes, request.vector())[0];
        if (scanned.length == 0) {
            return new IvfQuery.Result(SearchResult.EMPTY, false);
        }
        ListScanner ofLists = scanner(view.lists());
        IvfQuery<?> query = query(request, view, ofLists);
        for (int list : scanned) {
            if (context.expired()) {
                // If it was cancelled, the future is done and nobody sees the exception.
                throw new DeadlineExceededException();
            }
            ofLists.scan(view.lists().rows(list), List.of(query), context);
        }
        return query.result();
    }
}
