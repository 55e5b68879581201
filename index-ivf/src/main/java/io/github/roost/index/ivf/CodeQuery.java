package io.github.roost.index.ivf;

import io.github.roost.vector.SearchResult;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.collections.LongHashSet;

/** A query of lists of codes: its scores are nearly the distances to the decoded rows. */
final class CodeQuery extends IvfQuery<Shortlist> {
    private final int candidates;
    private final boolean exact;
    private final Reranker reranker;
    /** The distance up to which no row was left out, if exact. Written and read by the thread that finishes the query. */
    private float complete;

    /**
     * @param candidates number of rows with the best scores to rerank
     * @param exact also reranks rows that may be as near as these, so that the answer is exact; else goes by scores alone
     */
    CodeQuery(IvfRequest request, int candidates, boolean exact, Reranker reranker, BooleanSupplier mayRepeat) {
        // Of an exact answer, the bound is a distance.
        super(request, exact ? request.radius() : Float.POSITIVE_INFINITY, mayRepeat);
        this.candidates = candidates;
        this.exact = exact;
        this.reranker = reranker;
    }

    @Override
    Shortlist collector() {
        return new Shortlist(reranker.kernel(), candidates, exact);
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
        if (exact) {
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
        if (!exact) {
            return super.isShort(found);
        }
        return complete < (super.isShort(found) ? request().radius() : found.distances()[found.size() - 1]);
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
