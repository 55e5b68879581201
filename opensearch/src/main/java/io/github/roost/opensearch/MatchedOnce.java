package io.github.roost.opensearch;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.ConstantScoreScorerSupplier;
import org.apache.lucene.search.ConstantScoreWeight;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;
import org.jspecify.annotations.Nullable;

/**
 * A filter shared by several searches of one searcher, evaluated once per segment. It lives as long as these searches, and must not be
 * cached. Thread-safe.
 */
final class MatchedOnce extends Query {
    private final Query filter;
    /** Matches found so far, by segment. Guarded by this. */
    private final Map<Object, Matches> found = new HashMap<>();
    /** Guarded by this. */
    private @Nullable Weight weight;

    /** The matching documents of a segment. */
    private record Matches(FixedBitSet bits, int count) {}

    MatchedOnce(Query filter) {
        this.filter = filter;
    }

    private synchronized Matches matchedIn(IndexSearcher searcher, LeafReaderContext segment) throws IOException {
        Object key = segment.id();
        Matches known = found.get(key);
        if (known == null) {
            Weight ready = weight;
            if (ready == null) {
                ready = searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
                weight = ready;
            }
            FixedBitSet bits = new FixedBitSet(segment.reader().maxDoc());
            Scorer scorer = ready.scorer(segment);
            if (scorer != null) {
                DocIdSetIterator matching = scorer.iterator();
                for (int document = matching.nextDoc();
                        document != DocIdSetIterator.NO_MORE_DOCS;
                        document = matching.nextDoc()) {
                    bits.set(document);
                }
            }
            known = new Matches(bits, bits.cardinality());
            found.put(key, known);
        }
        return known;
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode scoreMode, float boost) {
        return new ConstantScoreWeight(this, boost) {
            @Override
            public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
                Matches matches = matchedIn(searcher, segment);
                return matches.count == 0
                        ? null
                        : ConstantScoreScorerSupplier.fromIterator(
                                new BitSetIterator(matches.bits, matches.count),
                                score(),
                                scoreMode,
                                segment.reader().maxDoc());
            }

            @Override
            public boolean isCacheable(LeafReaderContext segment) {
                return false;
            }
        };
    }

    @Override
    public void visit(QueryVisitor visitor) {
        filter.visit(visitor);
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other) && filter.equals(((MatchedOnce) other).filter);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), filter);
    }

    @Override
    public String toString(String field) {
        return "MatchedOnce(" + filter.toString(field) + ")";
    }
}
