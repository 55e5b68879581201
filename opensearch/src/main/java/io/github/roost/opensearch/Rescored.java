package io.github.roost.opensearch;

import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.RescoreTopNQuery;

/** The best hits of a vector query by their vectors. Lucene's own query of this kind fails if there is no hit. Immutable. */
final class Rescored extends Query {
    private final Query nearest;
    private final float[] vector;
    private final String field;
    private final int k;

    Rescored(Query nearest, float[] vector, String field, int k) {
        this.nearest = nearest;
        this.vector = vector;
        this.field = field;
        this.k = k;
    }

    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        Query hits = searcher.rewrite(nearest);
        return hits instanceof MatchNoDocsQuery
                ? hits
                : RescoreTopNQuery.createFullPrecisionRescorerQuery(hits, vector, field, k);
    }

    @Override
    public void visit(QueryVisitor visitor) {
        nearest.visit(visitor);
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other) && other instanceof Rescored that && nearest.equals(that.nearest) && k == that.k;
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), nearest, k);
    }

    @Override
    public String toString(String in) {
        return "Rescored(" + nearest.toString(in) + ")";
    }
}
