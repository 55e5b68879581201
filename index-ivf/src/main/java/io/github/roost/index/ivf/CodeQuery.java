package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/** A query of lists of codes: its scores are in the order of distances to what the codes stand for, nearly. */
final class CodeQuery extends IvfQuery<Shortlist> {
    private final ScalarCodec.Weights weights;
    private final int candidates;
    private final Reranker reranker;

    /** @param candidates how many rows with the best scores are compared again */
    CodeQuery(
            SearchRequest request,
            ScalarCodec.Weights weights,
            int candidates,
            Reranker reranker,
            int lists,
            BooleanSupplier mayRepeat,
            @Nullable Again again,
            CompletableFuture<Neighbors> answer) {
        super(request, Float.POSITIVE_INFINITY, lists, mayRepeat, again, answer);
        this.weights = weights;
        this.candidates = candidates;
        this.reranker = reranker;
    }

    ScalarCodec.Weights weights() {
        return weights;
    }

    @Override
    Shortlist collector() {
        return new Shortlist(reranker.kernel(), candidates);
    }

    @Override
    float boundOf(Shortlist shortlist) {
        return shortlist.bound();
    }

    /** Within a radius there are often fewer rows than candidates: there only a row that is met twice tells that others lack. */
    @Override
    boolean mayLack(List<Shortlist> shortlists) {
        return shortlists.stream().mapToInt(Shortlist::size).sum() >= candidates
                && (request().radius() == Float.POSITIVE_INFINITY || isAnyTwice(shortlists));
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
    Neighbors merged(List<Shortlist> shortlists, boolean mayRepeat) {
        Shortlist all = shortlists.getFirst();
        for (Shortlist other : shortlists.subList(1, shortlists.size())) {
            all.takeAll(other);
        }
        all.shrink();
        Neighbors nearest = reranker.nearest(all, request(), mayRepeat);
        shortlists.forEach(Shortlist::free);
        return nearest;
    }
}
