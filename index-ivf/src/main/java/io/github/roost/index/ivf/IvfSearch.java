package io.github.roost.index.ivf;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.ListsToVisit;
import io.github.roost.vector.math.NearestRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Answers checked requests: brings the query into stored form, chooses the lists to scan, has {@link ListScans} scan them at their homes, and merges
 * what the scans find. If they find too few rows, the search scans further lists; if rows may be missing, it scans again. Thread-safe.
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
    private final ListHomes homes;
    private final RowPreparation preparation;
    private final IvfRows rows;
    private final IvfMaintenance maintenance;
    private final ListScans scans;
    private final ListScanner scannerOfFloats;
    private final ListScanner scannerOfCodes;

    /**
     * @param rerank candidates beyond k in INT8 lists, as a multiple of the root of k
     */
    IvfSearch(
            Orchestrator orchestrator,
            Registration registration,
            ListHomes homes,
            RowPreparation preparation,
            IvfRows rows,
            IvfMaintenance maintenance,
            ScanKernel kernel,
            double rerank) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.homes = homes;
        this.preparation = preparation;
        this.rows = rows;
        this.maintenance = maintenance;
        this.scans = new ListScans(orchestrator, homes, rows::size);
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

    private IvfRequest stored(SearchRequest request) {
        return IvfRequest.of(preparation.storedQuery(request.query()), request);
    }

    /** The nprobe of requests that set none. */
    int probesFor(int k) {
        Lists lists = rows.lists();
        return ListsToVisit.forRows(lists.nprobe(), k, rows.size(), lists.count());
    }

    private int probes(SearchRequest request) {
        return request.effortOr(probesFor(request.k()));
    }

    /** Submits a request without a target recall. */
    CompletableFuture<SearchResult> submit(SearchRequest request) {
        return submit(stored(request), probes(request), request.options());
    }

    /** Submits a search for the k nearest of all rows as batch work. */
    CompletableFuture<SearchResult> submitInBatch(float[] query, int k, int probes) {
        return submit(IvfRequest.nearest(preparation.storedQuery(query), k), probes, SubmitOptions.BATCH);
    }

    private CompletableFuture<SearchResult> submit(IvfRequest request, int probes, SubmitOptions options) {
        Lists lists = rows.lists();
        Indexing indexing = orchestrator.indexing();
        CompletableFuture<SearchResult> found = scans.areOneTask(probes, lists, scanner(lists))
                ? indexing.submitSteps(inOneTask(request, probes), STATE, homes.id(0), options)
                : indexing.submitFork(fork(first(request, probes)), STATE, options);
        maintenance.flushIfDue();
        return found;
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
     * @param requests from 2 to {@link #MAX_TOGETHER}, which {@link #canShare}
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
        List<IvfRequest> stored = requests.stream().map(this::stored).toList();
        int[][] scanned = scanned(
                view.lists(), max, stored.stream().map(IvfRequest::vector).toArray(float[][]::new));
        List<Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult>> forks = new ArrayList<>(scanned.length);
        for (int i = 0; i < scanned.length; i++) {
            int probes = probes(requests.get(i));
            // The nearest come first, after the buffer if it is scanned. There may be fewer lists than probes.
            int wanted = probes + (scanned[i][0] == view.lists().bufferNumber() ? 1 : 0);
            int[] own = Arrays.copyOf(scanned[i], Math.min(wanted, scanned[i].length));
            forks.add(fork(Round.first(stored.get(i), view, own, probes, false)));
        }
        List<CompletableFuture<SearchResult>> answers = orchestrator
                .indexing()
                .submitTogether(forks, STATE, requests.getFirst().options());
        maintenance.flushIfDue();
        return answers;
    }

    /** The numbers of a checked query's nearest lists, nearest first. */
    int[] probed(float[] query, int probes) {
        return probed(rows.lists(), probes, preparation.storedQuery(query).vector())[0];
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
     * One of the scans of a search. Most searches have one round. If it finds too few rows, the next round scans further lists; if it may have
     * missed rows, the next scans the same lists again.
     *
     * @param view the lists as this round, and those before it that scanned other lists, see them
     * @param scanned lists of this round, maybe with the buffer
     * @param probes number of lists of this round and of those before it that scanned other lists
     * @param left the table's other lists, nearest first; null if they are not known yet
     * @param before what the rounds that scanned other lists have found and cost
     * @param dropped cost of the rounds whose lists are scanned again
     * @param rescans number of rescans left
     * @param alone whether the query runs by itself, not with queries that are likely to probe the same lists
     */
    private record Round(
            IvfRequest request,
            IvfRows.View view,
            int[] scanned,
            int probes,
            int @Nullable [] left,
            SearchResult before,
            SearchCost dropped,
            int rescans,
            boolean alone) {
        static Round first(IvfRequest request, IvfRows.View view, int[] scanned, int probes, boolean alone) {
            return new Round(
                    request, view, scanned, probes, null, SearchResult.EMPTY, SearchCost.NONE, MAX_RESCANS, alone);
        }

        /** What this round and those before have found and cost, without the dropped. */
        SearchResult with(SearchResult found) {
            if (before.size() == 0) {
                return found.with(before.cost().plus(found.cost()), found.cutShort());
            }
            SearchResult all = SearchResult.merge(List.of(before, found), before.size() + found.size());
            int kept = NearestRows.distinct(all.ids(), all.distances(), all.size(), request.limit());
            return new SearchResult(Arrays.copyOf(all.ids(), kept), Arrays.copyOf(all.distances(), kept))
                    .with(all.cost(), all.cutShort());
        }

        /** Whether the rounds before have used up the visit limit. */
        boolean isSpent() {
            return before.cost().visited() >= request.visitLimit();
        }

        /** The answer of a search that ends here; cut short if a round would follow. */
        SearchResult answer(SearchResult found, @Nullable Round next) {
            return request.query().original(found.with(dropped.plus(found.cost()), found.cutShort() || next != null));
        }
    }

    private Round first(IvfRequest request, int probes) {
        IvfRows.View view = rows.view();
        return Round.first(request, view, scanned(view.lists(), probes, request.vector())[0], probes, true);
    }

    /** The scans of a round and their continuation: the answer, or another round. */
    private Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult> fork(Round round) {
        Lists lists = round.view().lists();
        ListScanner ofLists = scanner(lists);
        IvfQuery<?> query = query(round, ofLists);
        return scans.fork(
                query,
                round.scanned(),
                lists,
                ofLists,
                round.alone(),
                (state, done, context) -> after(round, query.result()));
    }

    /** The search with its first round in one task. Another round, which may read much more, is divided. */
    private Search<Object, SearchResult> inOneTask(IvfRequest request, int probes) {
        return (state, context) -> {
            Round round = first(request, probes);
            ListScans.countScanOfBuffer(round.scanned()[0], round.view().lists());
            return after(round, scanHere(round, context));
        };
    }

    /** The answer, or another round. */
    private Step<Object, SearchResult> after(Round round, IvfQuery.Result result) {
        SearchResult found = round.with(result.found());
        Round next = next(round, result, found);
        return next == null || next.isSpent() ? Step.done(round.answer(found, next)) : fork(next);
    }

    private IvfQuery<?> query(Round round, ListScanner ofLists) {
        IvfRequest request = round.request().after(round.before().cost().visited());
        return ofLists.query(request.forTableOf(rows.size()), round.view());
    }

    /**
     * The round that must follow; null if there is none.
     *
     * @param result of the round
     * @param found in it and the rounds before
     */
    private @Nullable Round next(Round round, IvfQuery.Result result, SearchResult found) {
        IvfRequest request = round.request();
        if (found.cutShort()) {
            return null;
        }
        boolean isShort = found.size() < request.limit();
        // A row that two rounds saw took the place of another in the later one.
        boolean lacks = result.lacks() || (isShort && result.found().size() == request.limit());
        if (lacks && round.rescans() > 0) {
            return again(round, found.cost());
        }
        return isShort && found.size() < rows.size() ? wider(round, found) : null;
    }

    private Round again(Round round, SearchCost cost) {
        IvfRequest request = round.request().again();
        IvfRows.View view = rows.view();
        return new Round(
                request,
                view,
                scanned(view.lists(), round.probes(), request.vector())[0],
                round.probes(),
                null,
                SearchResult.EMPTY,
                round.dropped().plus(cost),
                round.rescans() - 1,
                true);
    }

    private @Nullable Round wider(Round round, SearchResult found) {
        int[] known = round.left();
        int[] left = known == null ? left(round) : known;
        if (left.length == 0) {
            return null;
        }
        int more =
                ListsToVisit.next(round.probes(), found.size(), round.request().limit()) - round.probes();
        int end = Math.min(more, left.length);
        return new Round(
                round.request(),
                round.view(),
                Arrays.copyOf(left, end),
                round.probes() + end,
                Arrays.copyOfRange(left, end, left.length),
                found,
                round.dropped(),
                round.rescans(),
                true);
    }

    /**
     * The lists that may have rows for a search and that its first round has not scanned, nearest first. Rows that they get from now on were in the
     * buffer, or are new.
     */
    private int[] left(Round first) {
        Lists lists = first.view().lists();
        boolean[] isScanned = new boolean[lists.bufferNumber() + 1];
        for (int list : first.scanned()) {
            isScanned[list] = true;
        }
        return Arrays.stream(inOrder(lists, first.request()))
                .filter(list -> !isScanned[list] && lists.rows(list).rows() > 0)
                .toArray();
    }

    /** The lists that may have rows within the radius, nearest first; all if there is no radius or rows are not stored exactly. */
    private int[] inOrder(Lists lists, IvfRequest request) {
        boolean isBound = request.radius() < Float.POSITIVE_INFINITY
                && preparation.metric() != Metric.INNER_PRODUCT
                && lists.layout().floatBytes() == Float.BYTES;
        if (!isBound) {
            return probed(lists, lists.count(), request.vector())[0];
        }
        return lists.quantizer().within(request.vector(), ListsToVisit.squared(preparation.metric(), request.radius()));
    }

    /** Searches for the k nearest of all rows in this thread, which scans one list after the other. The caller has checked the query. */
    SearchResult searchHere(float[] query, int k, int probes, SearchContext context) {
        IvfRequest request = IvfRequest.nearest(preparation.storedQuery(query), k);
        // The calling thread need not run a task of this table.
        try (var _ = registration.use().holdFromInside()) {
            Round round = first(request, probes);
            while (true) {
                IvfQuery.Result result = scanHere(round, context);
                SearchResult found = round.with(result.found());
                Round next = next(round, result, found);
                if (next == null || next.isSpent()) {
                    return round.answer(found, next);
                }
                round = next;
            }
        }
    }

    private IvfQuery.Result scanHere(Round round, SearchContext context) {
        Lists lists = round.view().lists();
        ListScanner ofLists = scanner(lists);
        IvfQuery<?> query = query(round, ofLists);
        List<IvfQuery<?>> only = List.of(query);
        for (int list : round.scanned()) {
            if (context.expired()) {
                // If it was cancelled, the future is done and nobody sees the exception.
                throw new DeadlineExceededException();
            }
            ofLists.scan(lists.rows(list), only, context);
        }
        return query.result();
    }
}
