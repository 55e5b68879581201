package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
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
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;
import org.jspecify.annotations.Nullable;

/**
 * The Lucene documents for which a condition holds, and those before them that belong to them. The condition is evaluated once, and counts
 * as one clause. Immutable.
 */
final class WithChunks extends Query {
    private final Query condition;
    /** The kinds of documents that others belong to. */
    private final List<BitSetProducer> kinds;

    WithChunks(Query condition, List<BitSetProducer> kinds) {
        this.condition = condition;
        this.kinds = kinds;
    }

    Query condition() {
        return condition;
    }

    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        Query rewritten = condition.rewrite(searcher);
        return rewritten.equals(condition) ? this : new WithChunks(rewritten, kinds);
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode scoreMode, float boost) throws IOException {
        Weight holds = searcher.createWeight(condition, ScoreMode.COMPLETE_NO_SCORES, 1);
        return new ConstantScoreWeight(this, boost) {
            @Override
            public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
                Scorer scorer = holds.scorer(segment);
                if (scorer == null) {
                    return null;
                }
                FixedBitSet documents = withChunks(scorer.iterator(), segment);
                return ConstantScoreScorerSupplier.fromIterator(
                        new BitSetIterator(documents, documents.cardinality()),
                        score(),
                        scoreMode,
                        segment.reader().maxDoc());
            }

            @Override
            public boolean isCacheable(LeafReaderContext segment) {
                return holds.isCacheable(segment);
            }
        };
    }

    private FixedBitSet withChunks(DocIdSetIterator matches, LeafReaderContext segment) throws IOException {
        FixedBitSet all = new FixedBitSet(segment.reader().maxDoc());
        BitSet[] around = new BitSet[kinds.size()];
        for (int kind = 0; kind < around.length; kind++) {
            around[kind] = kinds.get(kind).getBitSet(segment);
        }
        for (int document = matches.nextDoc();
                document != DocIdSetIterator.NO_MORE_DOCS;
                document = matches.nextDoc()) {
            all.set(document);
            for (BitSet kind : around) {
                if (kind != null && document > 0 && kind.get(document)) {
                    all.set(kind.prevSetBit(document - 1) + 1, document);
                }
            }
        }
        return all;
    }

    /** As a leaf: the clauses within are not asked of the same documents. */
    @Override
    public void visit(QueryVisitor visitor) {
        visitor.visitLeaf(this);
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other)
                && other instanceof WithChunks that
                && condition.equals(that.condition)
                && kinds.equals(that.kinds);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), condition, kinds);
    }

    @Override
    public String toString(String field) {
        return "WithChunks(" + condition.toString(field) + ")";
    }
}
