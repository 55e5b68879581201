package io.github.roost.index.ivf;

import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.QueryWeights;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/** A query of lists of codes: its scores have nearly the order of distances to the decoded rows. */
final class CodeQuery extends IvfQuery<Shortlist> {
    private final QueryWeights.Bytes weights;
    private final int candidates;
    private final @Nullable ScoreMargin margin;
    private final Reranker reranker;
    /** The score up to which no row was left out. Written and read by the thread that finishes the query. */
    private float complete;

    /**
     * @param candidates number of rows with the best scores to rerank
     * @param margin also reranks rows that may be as near as these, so that the answer is exact; null to go by scores alone
     */
    CodeQuery(
            IvfRequest request,
            QueryWeights.Bytes weights,
            int candidates,
            @Nullable ScoreMargin margin,
            Reranker reranker,
            BooleanSupplier mayRepeat) {
        super(request, bound(request, margin), mayRepeat);
        this.weights = weights;
        this.candidates = candidates;
        this.margin = margin;
        this.reranker = reranker;
    }

    private static float bound(IvfRequest request, @Nullable ScoreMargin margin) {
        return margin == null || request.radius() == Float.POSITIVE_INFINITY
                ? Float.POSITIVE_INFINITY
                : margin.within(request.radius());
    }

    QueryWeights.Bytes weights() {
        return weights;
    }

    @Override
    Shortlist collector() {
        return new Shortlist(reranker.kernel(), candidates, margin);
    }

    @Override
    float boundOf(Shortlist shortlist) {
        return shortlist.bound();
    }

    /**
     * Within a radius there are often fewer rows than candidates; then only a row seen twice shows that others may be missing.
     * An exact answer is always checked for completeness, as a row may have been removed since it was found.
     */
    @Override
    boolean mayLack(List<Shortlist> shortlists, boolean mayRepeat) {
        if (margin != null) {
            return true;
        }
        return mayRepeat
                && shortlists.stream().mapToInt(Shortlist::size).sum() >= candidates
                && (request().radius() == Float.POSITIVE_INFINITY || isAnyTwice(shortlists));
    }

    /**
     * Rows that were seen twice, or removed since, have made bounds too low. An exact answer is complete all the same if every
     * row as near as its last was kept; an answer with fewer than k rows, if every row within the radius was kept.
     */
    @Override
    boolean isShort(SearchResult found) {
        if (margin == null) {
            return super.isShort(found);
        }
        float needed =
                super.isShort(found) ? bound(request(), margin) : margin.within(found.distances()[found.size() - 1]);
        return complete < needed;
    }

    private static boolean isAnyTwice(List<Shortlist> shortlists) {
        LongHashSet ids = new LongHashSet();
        for (Shortlist shortlist : shortlists) {
            for (int i = 0; i < shortlist.size(); i++) {
                if (!ids.add(shortlist.id(i))) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    SearchResult merged(List<Shortlist> shortlists, boolean mayRepeat) {
        Shortlist all = shortlists.getFirst();
        for (Shortlist other : shortlists.subList(1, shortlists.size())) {
            all.takeAll(other);
        }
        all.shrink();
        complete = Math.min(bound(), all.bound());
        SearchResult nearest = reranker.nearest(all, request(), mayRepeat);
        shortlists.forEach(Shortlist::free);
        return nearest;
    }
}
