package io.github.roost.index.hnsw.graph;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GraphSearcher;
import io.github.roost.index.hnsw.search.GraphSearchers;
import io.github.roost.index.hnsw.search.GroupScratch;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.index.hnsw.search.SearchPlan;
import io.github.roost.index.hnsw.search.SearchScratch;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.NearestRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The searches of a graph's rows: graph search, scan, or scan for several queries, over the rows that are in both of two sets.
 * Thread-safe.
 */
public final class RowSearcher {
    /** Spare room for nodes tied with the k-th distance, among which the smallest ids are chosen. */
    private static final int MORE_FOR_TIES = 8;

    private final GraphImage image;
    private final GraphSpace space;
    private final GraphSearcher searcher = GraphSearchers.preferred();
    private final CompiledFilters filters;

    RowSearcher(GraphImage image, GraphSpace space) {
        this.image = image;
        this.space = space;
        this.filters = new CompiledFilters(image);
    }

    /**
     * The rows that a filter allows.
     *
     * @param filter asked about all rows, or, if it is cached, at its first search only
     * @param alive the rows that are not deleted
     * @param visit the search that asks
     * @return the rows
     */
    public AllowedRows allowed(IdFilter filter, AllowedRows alive, GraphVisit visit) {
        return filters.rowsOf(filter, alive.rows(), visit::requireWanted);
    }

    /**
     * The rows that a filter allows in a part of an image without a graph.
     *
     * @param filter asked about each of the rows
     * @param alive the rows that are not deleted
     * @param from the first row
     * @param to the row after the last
     * @param visit the search that asks
     * @return the rows
     */
    public AllowedRows allowedAmong(IdFilter filter, AllowedRows alive, int from, int to, GraphVisit visit) {
        return filters.rowsAmong(filter, alive.rows(), from, to, visit::requireWanted);
    }

    /**
     * Finds the k nearest rows that are not deleted and that a filter allows, and reports the traffic to the context.
     *
     * @param query the query, checked
     * @param k max number of rows
     * @param ef width of the search
     * @param alive the rows that are not deleted
     * @param filter the rows that may be found
     * @param visit the state of the search
     * @return the rows found
     * @throws DeadlineExceededException if the search expires meanwhile
     */
    public SearchResult search(float[] query, int k, int ef, AllowedRows alive, IdFilter filter, GraphVisit visit) {
        SearchScratch scratch = SearchScratch.take();
        try {
            SearchResult found = filter.isCached() ? null : searchAsking(query, k, ef, alive, filter, visit, scratch);
            return found == null ? search(query, k, ef, alive, allowed(filter, alive, visit), visit, scratch) : found;
        } finally {
            scratch.giveBack();
        }
    }

    /**
     * Asks a filter only about nodes that a graph search finds: the search looks for so many that the filter should allow {@code ef} of
     * them.
     *
     * @return null if the filter must be asked about all rows: a scan is shorter, or it allows hardly any rows near the query
     */
    private @Nullable SearchResult searchAsking(
            float[] query, int k, int ef, AllowedRows alive, IdFilter filter, GraphVisit visit, SearchScratch scratch) {
        int nodes = image.shape().nodes();
        int rows = Math.min(image.shape().rows(), alive.rows().size());
        if (SearchPlan.scanIsShorter(nodes, rows, 1, ef) || space.needsScan(query)) {
            return null;
        }
        AskedRows asked = new AskedRows(image, alive.rows(), filter, visit::requireWanted);
        int needed = reranked(k, ef);
        double share = asked.share();
        int before = 0;
        while (!SearchPlan.scanIsShorter(nodes, rows, share, ef)) {
            int width = SearchPlan.unfiltered(ef, share, nodes);
            int limit = SearchPlan.unfiltered(needed, share, width);
            if (limit <= before) {
                return null;
            }
            GraphSpace.QueryScale scale = begin(query, width, scratch);
            NodeSet allowed = scratch.both(image, alive.nodes(), NodeSet.ALL, visit::requireWanted);
            if (searchGraph(width, limit, allowed, scratch, visit)) {
                return null;
            }
            Nearest found = nearest(scratch, scale, k, needed, asked);
            if (visit.isCutShort() || !SearchPlan.allowsTooFew(found.nodes(), needed, k)) {
                return found.rows();
            }
            share = (double) found.nodes() / limit;
            before = limit;
        }
        return null;
    }

    private SearchResult search(
            float[] query,
            int k,
            int ef,
            AllowedRows alive,
            AllowedRows wanted,
            GraphVisit visit,
            SearchScratch scratch) {
        GraphSpace.QueryScale scale = begin(query, ef, scratch);
        int nodes = image.shape().nodes();
        NodeSet allowed = scratch.both(image, alive.nodes(), wanted.nodes(), visit::requireWanted);
        int members = Math.min(nodes, allowed.size());
        boolean isCoded = image.shape().coded();
        boolean scansVectors = space.needsScan(query)
                || (isCoded
                        ? SearchPlan.scanOfFewIsShorter(nodes, members, ef)
                        : SearchPlan.scanIsShorter(nodes, members, ef));
        // A scan that would exceed the visit limit is not begun: cut short, a scan is useless, but a graph search is
        // not.
        boolean mayScan = members <= visit.left();
        int limit;
        if (scansVectors && mayScan) {
            limit = ef;
            searcher.scan(image, scratch, limit, allowed, 0, nodes, visit::requireWanted);
            touchedVectors(scratch, visit);
        } else {
            limit = reranked(k, ef);
            if (isCoded && mayScan && SearchPlan.codeScanIsShorter(nodes, members, ef)) {
                scratch.scan();
            }
            if (searchGraph(ef, limit, allowed, scratch, visit)) {
                return search(query, k, SearchPlan.wider(ef, nodes), alive, wanted, visit, scratch);
            }
        }
        SearchResult found =
                nearest(scratch, scale, k, 0, inBoth(alive, wanted)).rows();
        if (found.size() >= k || visit.isCutShort()) {
            return found;
        }
        if (isCrowdedOut(found, k, scratch, limit)) {
            return ef < nodes ? search(query, k, SearchPlan.wider(ef, nodes), alive, wanted, visit, scratch) : found;
        }
        // The graph leads to fewer rows than are allowed: rows far from all others may have no neighbor that keeps a
        // link to them.
        return scratch.size() < members && !visit.endsAt(members)
                ? scan(query, k, k, alive, wanted, 0, nodes, visit, scratch)
                : found;
    }

    private GraphSpace.QueryScale begin(float[] query, int width, SearchScratch scratch) {
        scratch.begin(image, width);
        return space.write(query, scratch);
    }

    /** Runs a graph search; returns whether it went so far that it must be repeated with a larger width. */
    private boolean searchGraph(int width, int limit, NodeSet allowed, SearchScratch scratch, GraphVisit visit) {
        searcher.search(image, scratch, width, limit, allowed, () -> betweenPieces(scratch, visit));
        touchedRecords(scratch, visit);
        int nodes = image.shape().nodes();
        return !visit.isCutShort()
                && (SearchPlan.wentFar(scratch.expanded(), nodes, allowed.size(), width)
                        || (scratch.isUnsure() && SearchPlan.mayHaveNearer(scratch.size(), width, limit, nodes)));
    }

    private static IntPredicate inBoth(AllowedRows alive, AllowedRows wanted) {
        return row -> alive.rows().contains(row) && wanted.rows().contains(row);
    }

    private void betweenPieces(SearchScratch scratch, GraphVisit visit) {
        visit.requireWanted();
        if (visit.endsAt(scratch.computed())) {
            searcher.endSearch(scratch);
        }
    }

    /**
     * Whether nodes without a result row filled the list. In a node with several rows, one may be alive and a
     * different one wanted; and rows may be deleted during the search.
     *
     * @param limit max number of nodes in the list
     */
    private static boolean isCrowdedOut(SearchResult found, int k, GraphSearcher.Found nodes, int limit) {
        return found.size() < k && nodes.size() >= limit;
    }

    /**
     * The nodes of layer 0 that a search computes distances to, in that order.
     *
     * @param query the query, checked
     * @param k max number of rows
     * @param ef width of the search
     * @return node numbers
     */
    public int[] visits(float[] query, int k, int ef) {
        int nodes = image.shape().nodes();
        if (SearchPlan.scanIsShorter(nodes, nodes, ef)) {
            return IntStream.range(0, nodes).toArray();
        }
        SearchScratch scratch = SearchScratch.take();
        try {
            space.write(query, scratch.begin(image, ef));
            return GraphSearchers.visits(image, scratch, ef);
        } finally {
            scratch.giveBack();
        }
    }

    /**
     * Finds the k nearest rows that are in both of two sets, by scanning nodes.
     *
     * @param query the query, checked
     * @param k max number of rows
     * @param alive the rows that are not deleted
     * @param wanted the rows that may be found
     * @param from the first node
     * @param to the node after the last
     * @param visit the state of the search
     * @return the rows found
     */
    public SearchResult scan(
            float[] query, int k, AllowedRows alive, AllowedRows wanted, int from, int to, GraphVisit visit) {
        SearchScratch scratch = SearchScratch.take();
        try {
            return scan(query, k, k, alive, wanted, from, to, visit, scratch);
        } finally {
            scratch.giveBack();
        }
    }

    private SearchResult scan(
            float[] query,
            int k,
            int width,
            AllowedRows alive,
            AllowedRows wanted,
            int from,
            int to,
            GraphVisit visit,
            SearchScratch scratch) {
        Runnable betweenPieces = visit::requireWanted;
        GraphSpace.QueryScale scale = begin(query, width, scratch);
        NodeSet allowed = scratch.both(image, alive.nodes(), wanted.nodes(), betweenPieces);
        searcher.scan(image, scratch, width, allowed, from, to, betweenPieces);
        touchedVectors(scratch, visit);
        SearchResult found =
                nearest(scratch, scale, k, 0, inBoth(alive, wanted)).rows();
        return width < to - from && isCrowdedOut(found, k, scratch, width)
                ? scan(query, k, SearchPlan.wider(width, to - from), alive, wanted, from, to, visit, scratch)
                : found;
    }

    /**
     * Finds the exact k nearest rows of several queries that are in both of two sets; each node is read once for all queries.
     *
     * @param queries the queries, checked; at most {@link GroupScratch#MAX_QUERIES}
     * @param k max number of rows per query
     * @param alive the rows that are not deleted
     * @param wanted the rows that may be found
     * @param visit the state of the searches
     * @return the rows found and the cost, per query
     */
    public List<SearchResult> scanTogether(
            List<float[]> queries, int k, AllowedRows alive, AllowedRows wanted, GraphVisit visit) {
        int nodes = image.shape().nodes();
        int width = Math.min(nodes, k + MORE_FOR_TIES);
        GroupScratch group = GroupScratch.take();
        SearchScratch scratch = SearchScratch.take();
        try {
            NodeSet allowed = scratch.both(image, alive.nodes(), wanted.nodes(), visit::requireWanted);
            group.begin(image, queries.size(), width);
            GraphSpace.QueryScale[] scales = new GraphSpace.QueryScale[queries.size()];
            for (int query = 0; query < scales.length; query++) {
                scales[query] = space.write(queries.get(query), group.query(query));
            }
            int compared = searcher.scanTogether(image, group, allowed, visit::requireWanted);
            visit.comparedOnce(
                    compared, scales.length, (long) compared * image.shape().dimension() * Float.BYTES);
            List<SearchResult> results = new ArrayList<>(scales.length);
            for (int query = 0; query < scales.length; query++) {
                GraphSearcher.Found found = group.found(query);
                SearchResult nearest = nearest(found, scales[query], k, 0, inBoth(alive, wanted))
                        .rows();
                if (width < nodes && isCrowdedOut(nearest, k, found, width)) {
                    nearest = scan(queries.get(query), k, alive, wanted, 0, nodes, visit);
                }
                results.add(nearest.with(new SearchCost(compared, 0), false));
            }
            return results;
        } finally {
            scratch.giveBack();
            group.giveBack();
        }
    }

    /** The number of nodes found by codes that are reranked by their vectors. */
    int reranked(int k, int width) {
        // With several rows per node, a node may have no wanted row; then the next node takes its place.
        if (!image.shape().coded() || image.hasGroups()) {
            return width;
        }
        return SearchPlan.reranked(k, width, image.shape().dimension());
    }

    /**
     * The number of distances that a search over codes computes from vectors, for the rerank.
     *
     * @param k max number of rows
     * @param ef width of the search
     * @return 0 in a graph without codes
     */
    public int comparedAgain(int k, int ef) {
        return image.shape().coded() ? reranked(k, ef) : 0;
    }

    /** Counts traffic by the paper's estimate: per node a vector or its codes, and M neighbors. */
    private void touchedRecords(SearchScratch scratch, GraphVisit visit) {
        GraphImage.Shape shape = image.shape();
        long vector = (long) shape.dimension() * Float.BYTES;
        long reranked = shape.coded() ? scratch.size() : 0;
        long nodes = scratch.computed() - reranked;
        long record = (shape.coded() ? shape.dimension() : vector) + (long) shape.upperDegree() * Integer.BYTES;
        visit.compared(nodes, scratch.expanded(), nodes * record + reranked * vector);
    }

    private void touchedVectors(SearchScratch scratch, GraphVisit visit) {
        visit.compared(scratch.computed(), 0, scratch.computed() * image.shape().dimension() * Float.BYTES);
    }

    /**
     * The nearest rows of the found nodes.
     *
     * @param rows nearest first, ties by id
     * @param nodes number of nodes that have an allowed row, as far as they were counted
     */
    private record Nearest(SearchResult rows, int nodes) {}

    /**
     * The k nearest rows of the found nodes that are allowed.
     *
     * @param needed number of nodes up to which those with an allowed row are counted after the k nearest rows
     */
    private Nearest nearest(
            GraphSearcher.Found found, GraphSpace.QueryScale scale, int k, int needed, IntPredicate isAllowed) {
        int nodes = found.size();
        long[] ids = new long[Math.min(k, nodes)];
        float[] distances = new float[ids.length];
        int size = 0;
        int counted = 0;
        float before = Float.NaN;
        boolean full = false;
        for (int i = 0; i < nodes; i++) {
            float scaled = found.distance(i);
            // All rows tied with the k-th distance are taken, so that the smallest ids of that distance win.
            full |= size >= k && scaled != before;
            if (full && counted >= needed) {
                break;
            }
            before = scaled;
            float distance = space.toCaller(scale, scaled);
            int node = found.node(i);
            int end = image.firstRow(node + 1);
            boolean any = false;
            for (int row = image.firstRow(node); row < end && !(full && any); row++) {
                if (!isAllowed.test(row)) {
                    continue;
                }
                any = true;
                if (full) {
                    continue;
                }
                if (size == ids.length) {
                    ids = Arrays.copyOf(ids, 2 * size);
                    distances = Arrays.copyOf(distances, 2 * size);
                }
                ids[size] = image.id(row);
                distances[size++] = distance;
            }
            counted += any ? 1 : 0;
        }
        NearestRows.sortTies(ids, distances, size);
        int kept = Math.min(size, k);
        SearchResult nearest = kept == ids.length
                ? new SearchResult(ids, distances)
                : new SearchResult(Arrays.copyOf(ids, kept), Arrays.copyOf(distances, kept));
        return new Nearest(nearest, counted);
    }
}
