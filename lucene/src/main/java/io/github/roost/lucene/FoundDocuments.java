package io.github.roost.lucene;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.apache.lucene.index.IndexReaderContext;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.jspecify.annotations.Nullable;

/** A query of given documents of one reader, with given scores. Cannot be searched in another reader. Immutable. */
final class FoundDocuments extends Query {
    private final Object readerIdentity;
    /** Reader-wide document numbers, ascending. */
    private final int[] docs;

    private final float[] scores;

    private FoundDocuments(Object readerIdentity, int[] docs, float[] scores) {
        this.readerIdentity = readerIdentity;
        this.docs = docs;
        this.scores = scores;
    }

    /** @param hits in any order, without duplicate documents */
    static FoundDocuments of(IndexReaderContext reader, ScoreDoc[] hits) {
        ScoreDoc[] ascending = hits.clone();
        Arrays.sort(ascending, Comparator.comparingInt(hit -> hit.doc));
        int[] docs = new int[ascending.length];
        float[] scores = new float[ascending.length];
        for (int i = 0; i < docs.length; i++) {
            docs[i] = ascending[i].doc;
            scores[i] = ascending[i].score;
        }
        return new FoundDocuments(reader.id(), docs, scores);
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode scoreMode, float boost) {
        if (searcher.getIndexReader().getContext().id() != readerIdentity) {
            throw new IllegalStateException("documents found in one reader cannot be searched in another");
        }
        return new Weight(this) {
            @Override
            public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) {
                int from = firstFrom(segment.docBase);
                int to = firstFrom(segment.docBase + segment.reader().maxDoc());
                return from == to
                        ? null
                        : new DefaultScorerSupplier(new SegmentScorer(from, to, segment.docBase, boost));
            }

            @Override
            public int count(LeafReaderContext segment) {
                return firstFrom(segment.docBase + segment.reader().maxDoc()) - firstFrom(segment.docBase);
            }

            @Override
            public Explanation explain(LeafReaderContext segment, int doc) {
                int index = Arrays.binarySearch(docs, segment.docBase + doc);
                return index < 0
                        ? Explanation.noMatch("not among the " + docs.length + " nearest")
                        : Explanation.match(scores[index] * boost, "among the " + docs.length + " nearest");
            }

            // The query is cheaper than a cache entry.
            @Override
            public boolean isCacheable(LeafReaderContext segment) {
                return false;
            }
        };
    }

    /** Index of the first document with this number or a larger one. */
    private int firstFrom(int doc) {
        int index = Arrays.binarySearch(docs, doc);
        return index < 0 ? -index - 1 : index;
    }

    /** The documents of one segment, at indices from {@code from} to {@code to} exclusive. */
    private final class SegmentScorer extends Scorer {
        private final int from;
        private final int to;
        private final int docBase;
        private final float boost;
        private final Positions positions = new Positions();
        private int index;

        SegmentScorer(int from, int to, int docBase, float boost) {
            this.from = from;
            this.to = to;
            this.docBase = docBase;
            this.boost = boost;
            this.index = from - 1;
        }

        @Override
        public int docID() {
            if (index < from) {
                return -1;
            }
            return index < to ? docs[index] - docBase : DocIdSetIterator.NO_MORE_DOCS;
        }

        @Override
        public DocIdSetIterator iterator() {
            return positions;
        }

        @Override
        public float score() {
            return scores[index] * boost;
        }

        @Override
        public float getMaxScore(int upTo) {
            float max = 0;
            for (int i = Math.max(index, from); i < to && docs[i] - docBase <= upTo; i++) {
                max = Math.max(max, scores[i] * boost);
            }
            return max;
        }

        private final class Positions extends DocIdSetIterator {
            @Override
            public int docID() {
                return SegmentScorer.this.docID();
            }

            @Override
            public int nextDoc() {
                index++;
                return docID();
            }

            @Override
            public int advance(int target) {
                do {
                    index++;
                } while (index < to && docs[index] - docBase < target);
                return docID();
            }

            @Override
            public long cost() {
                return (long) to - from;
            }
        }
    }

    @Override
    public void visit(QueryVisitor visitor) {
        visitor.visitLeaf(this);
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other)
                && other instanceof FoundDocuments that
                && readerIdentity == that.readerIdentity
                && Arrays.equals(docs, that.docs)
                && Arrays.equals(scores, that.scores);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), readerIdentity, Arrays.hashCode(docs), Arrays.hashCode(scores));
    }

    @Override
    public String toString(String field) {
        return "FoundDocuments" + Arrays.toString(docs);
    }
}
