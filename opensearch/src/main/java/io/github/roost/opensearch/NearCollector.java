package io.github.roost.opensearch;

import org.apache.lucene.search.AbstractKnnCollector;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/**
 * Collects the hits of a segment whose score is at least a minimum. A graph search goes on until it has found half its width in vectors
 * whose score is lower: vectors are found in nearly the order of their scores, so few hits are left beyond so many others. Used by one
 * thread.
 */
final class NearCollector extends AbstractKnnCollector {
    private final float minScore;
    private final NearHits hits;
    /** The best vectors that are no hits. */
    private final TopKnnCollector others;

    private int collected;

    /**
     * Creates a collector.
     *
     * @param width width of the search, at least 1
     * @param visitLimit max number of vectors to visit
     * @param hits receives the hits
     */
    NearCollector(float minScore, int width, int visitLimit, KnnSearchStrategy strategy, NearHits hits) {
        super(width, visitLimit, strategy);
        this.minScore = minScore;
        this.hits = hits;
        this.others = new TopKnnCollector(Math.ceilDiv(width, 2), Integer.MAX_VALUE);
    }

    @Override
    public boolean collect(int document, float score) {
        collected++;
        if (score >= minScore) {
            hits.add(document, score);
            return true;
        }
        return others.collect(document, score);
    }

    @Override
    public int numCollected() {
        return collected;
    }

    /** Below the minimum, also if it is the score of a hit. */
    @Override
    public float minCompetitiveSimilarity() {
        return others.minCompetitiveSimilarity();
    }

    /** Only the number of visited vectors. */
    @Override
    public TopDocs topDocs() {
        TotalHits.Relation relation =
                earlyTerminated() ? TotalHits.Relation.GREATER_THAN_OR_EQUAL_TO : TotalHits.Relation.EQUAL_TO;
        return new TopDocs(new TotalHits(visitedCount(), relation), new ScoreDoc[0]);
    }
}
