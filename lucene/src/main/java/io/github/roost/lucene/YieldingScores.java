package io.github.roost.lucene;

import java.io.IOException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.RandomVectorScorerSupplier;
import org.apache.lucene.util.hnsw.UpdateableRandomVectorScorer;

/**
 * Scores for Lucene's graph builder, which runs for seconds and has no other point at which a caller could interrupt it: an action
 * runs before each score, or before each array of scores. Used by one thread.
 *
 * @param betweenPieces the action
 */
record YieldingScores(RandomVectorScorerSupplier scores, Runnable betweenPieces) implements RandomVectorScorerSupplier {
    @Override
    public UpdateableRandomVectorScorer scorer() throws IOException {
        return new Scorer(scores.scorer(), betweenPieces);
    }

    @Override
    public RandomVectorScorerSupplier copy() throws IOException {
        return new YieldingScores(scores.copy(), betweenPieces);
    }

    private record Scorer(UpdateableRandomVectorScorer scorer, Runnable betweenPieces)
            implements UpdateableRandomVectorScorer {
        @Override
        public void setScoringOrdinal(int node) throws IOException {
            scorer.setScoringOrdinal(node);
        }

        @Override
        public float score(int node) throws IOException {
            betweenPieces.run();
            return scorer.score(node);
        }

        @Override
        public float bulkScore(int[] nodes, float[] into, int count) throws IOException {
            betweenPieces.run();
            return scorer.bulkScore(nodes, into, count);
        }

        @Override
        public int maxOrd() {
            return scorer.maxOrd();
        }

        @Override
        public int ordToDoc(int ordinal) {
            return scorer.ordToDoc(ordinal);
        }

        @Override
        public Bits getAcceptOrds(Bits acceptDocs) {
            return scorer.getAcceptOrds(acceptDocs);
        }
    }
}
