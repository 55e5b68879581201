package io.github.roost.lucene;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.FilterWeight;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.jspecify.annotations.Nullable;

/** A filter that counts how often it is evaluated. */
class CountedFilter extends Query {
    private final Query in;
    private final AtomicInteger weights = new AtomicInteger();
    private final AtomicInteger evaluations = new AtomicInteger();

    CountedFilter(Query in) {
        this.in = in;
    }

    /** The number of weights made. */
    int weights() {
        return weights.get();
    }

    /** The number of segments evaluated, each as often as it was. */
    int evaluations() {
        return evaluations.get();
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) throws IOException {
        weights.incrementAndGet();
        return new FilterWeight(this, searcher.rewrite(in).createWeight(searcher, mode, boost)) {
            @Override
            public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
                evaluations.incrementAndGet();
                return super.scorerSupplier(segment);
            }
        };
    }

    @Override
    public void visit(QueryVisitor visitor) {
        visitor.visitLeaf(this);
    }

    @Override
    public String toString(String field) {
        return "counted " + in;
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
