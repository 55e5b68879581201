package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.QueryTimeout;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocAndFloatFeatureBuffer;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.TimeLimitingKnnCollectorManager;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.search.Weight;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * A query for all documents, or chunks of documents, of which a vector has at least a minimum score with one of the query's vectors; the
 * best score counts, and of several chunks of a document the best one is the hit. Searches each segment through {@link ShardSearch},
 * when its hits are first asked for, and keeps them while its weight lives. Immutable but for a count of vectors.
 */
final class NearQuery extends Query {
    private final String field;
    private final List<QueryVector> vectors;
    private final ShardSearch shard;
    /** The number of visited vectors, for {@link #toString(String)}. */
    private final LongAdder visited = new LongAdder();

    NearQuery(String field, List<QueryVector> vectors, ShardSearch shard) {
        this.field = field;
        this.vectors = vectors;
        this.shard = shard;
    }

    private float minScore() {
        return shard.hits().minScore();
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode scoreMode, float boost) throws IOException {
        Query filter = shard.filter();
        Weight admitted = filter == null
                ? null
                : searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
        return new NearWeight(admitted, searcher.getTimeout(), boost);
    }

    private final class NearWeight extends Weight {
        private final @Nullable Weight admitted;
        private final @Nullable QueryTimeout timeout;
        private final float boost;
        /** Hits found so far, by segment. Of threads that need them at the same time each searches: none waits for another. */
        private final ConcurrentMap<Object, NearHits> found = new ConcurrentHashMap<>();

        NearWeight(@Nullable Weight admitted, @Nullable QueryTimeout timeout, float boost) {
            super(NearQuery.this);
            this.admitted = admitted;
            this.timeout = timeout;
            this.boost = boost;
        }

        @Override
        public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
            NearHits hits = found.get(segment.id());
            if (hits == null) {
                hits = search(segment);
                found.putIfAbsent(segment.id(), hits);
            }
            return hits.size() == 0 ? null : new DefaultScorerSupplier(hits.scorer(boost));
        }

        private NearHits search(LeafReaderContext segment) throws IOException {
            NearHits hits = new NearHits();
            FieldInfo info = segment.reader().getFieldInfos().fieldInfo(field);
            AcceptDocs accepted = info == null || info.getVectorDimension() == 0 ? null : accepted(segment);
            if (accepted == null || accepted.cost() == 0) {
                return hits;
            }
            int limit = admitted == null ? Integer.MAX_VALUE : accepted.cost() + 1;
            BitSetProducer documents = shard.documents();
            BitSet whole = documents == null ? null : documents.getBitSet(segment);
            for (QueryVector vector : vectors) {
                TopDocs cost = shard.search(segment, limit, () -> search(segment, vector, accepted, limit, hits));
                visited.add(cost.totalHits.value());
                hits.sortIfMany(whole);
            }
            return hits.sorted(whole);
        }

        private @Nullable AcceptDocs accepted(LeafReaderContext segment) throws IOException {
            if (admitted == null) {
                return AcceptDocs.fromLiveDocs(
                        segment.reader().getLiveDocs(), segment.reader().maxDoc());
            }
            ScorerSupplier supplier = admitted.scorerSupplier(segment);
            return supplier == null
                    ? null
                    : AcceptDocs.fromIteratorSupplier(
                            () -> supplier.get(Long.MAX_VALUE).iterator(),
                            segment.reader().getLiveDocs(),
                            segment.reader().maxDoc());
        }

        /** Adds the hits for one vector; returns the number of visited vectors. */
        private TopDocs search(
                LeafReaderContext segment, QueryVector vector, AcceptDocs accepted, int limit, NearHits hits)
                throws IOException {
            int before = hits.size();
            NearCollector collector = new NearCollector(minScore(), shard.width(), limit, shard.strategy(), hits);
            if (shard.exact()) {
                scan(segment, vector, accepted, collector);
                return collector.topDocs();
            }
            KnnCollector limited = new TimeLimitingKnnCollectorManager((_, _, _) -> collector, timeout)
                    .newCollector(limit, shard.strategy(), segment);
            vector.search(segment.reader(), field, limited, accepted);
            if (collector.earlyTerminated()) {
                // The filter admits fewer vectors than the search visits.
                hits.keepFirst(before);
                scan(segment, vector, accepted, collector);
            }
            return collector.topDocs();
        }

        /** Scores all accepted vectors. */
        private void scan(LeafReaderContext segment, QueryVector vector, AcceptDocs accepted, NearCollector collector)
                throws IOException {
            VectorScorer scorer = vector.scorer(segment.reader(), field);
            if (scorer == null) {
                return;
            }
            VectorScorer.Bulk scores = scorer.bulk(accepted.iterator());
            DocAndFloatFeatureBuffer run = new DocAndFloatFeatureBuffer();
            do {
                scores.nextDocsAndScores(DocIdSetIterator.NO_MORE_DOCS, null, run);
                collector.incVisitedCount(run.size);
                for (int i = 0; i < run.size; i++) {
                    collector.collect(run.docs[i], run.features[i]);
                }
            } while (run.size > 0 && !(timeout != null && timeout.shouldExit()));
        }

        @Override
        public Explanation explain(LeafReaderContext segment, int document) throws IOException {
            Scorer scorer = scorer(segment);
            return scorer != null && scorer.iterator().advance(document) == document
                    ? Explanation.match(scorer.score(), "among the vectors of score " + minScore() + " and more")
                    : Explanation.noMatch("not among the vectors of score " + minScore() + " and more");
        }

        @Override
        public boolean isCacheable(LeafReaderContext segment) {
            return admitted == null || admitted.isCacheable(segment);
        }
    }

    @Override
    public void visit(QueryVisitor visitor) {
        if (visitor.acceptField(field)) {
            visitor.visitLeaf(this);
        }
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other)
                && other instanceof NearQuery that
                && field.equals(that.field)
                && vectors.equals(that.vectors)
                && shard.equals(that.shard);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), field, vectors, shard);
    }

    @Override
    public String toString(String in) {
        return RoostKnnQueryBuilder.NAME + ":" + field + "[min_score=" + minScore() + ", visited=" + visited + "]";
    }
}
