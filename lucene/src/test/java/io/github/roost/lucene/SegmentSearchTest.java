package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.hnsw.graph.CodedRows;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.util.hnsw.HnswGraphBuilder;
import org.apache.lucene.util.hnsw.RandomVectorScorer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Searches in which the scores of some vectors are NaN, as where they have no cosine: vectors that a merge took from another format. */
class SegmentSearchTest {
    private static final int VECTORS = 3_000;
    private static final int DIMENSION = 8;
    private static final int K = 10;

    private final List<float[]> vectors = new ArrayList<>();
    private final float[] query;

    SegmentSearchTest() {
        Random random = new Random(1);
        for (int i = 0; i < VECTORS; i++) {
            vectors.add(vector(random));
        }
        query = vector(random);
    }

    private static float[] vector(Random random) {
        return gaussian(DIMENSION, random);
    }

    private Graph graph() throws IOException {
        FloatVectorValues values = FloatVectorValues.fromFloats(vectors, DIMENSION);
        FlatVectorsScorer scorer = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
        BuiltByLucene built = new BuiltByLucene(HnswGraphBuilder.create(
                        scorer.getRandomVectorScorerSupplier(VectorSimilarityFunction.EUCLIDEAN, values), 16, 100, 1)
                .build(VECTORS));
        Metric metric = SearchSpace.metric(VectorSimilarityFunction.EUCLIDEAN);
        try (CodedRows rows = CodedRows.ofFloats(
                "test",
                metric,
                DIMENSION,
                VECTORS,
                (row, into) -> System.arraycopy(vectors.get(row), 0, into, 0, DIMENSION),
                false,
                () -> {})) {
            return Graph.of(built, built.degree(), rows, row -> row, values::ordToDoc, Arena.ofAuto());
        }
    }

    /** Every second vector has no score. */
    private RandomVectorScorer scorer() throws IOException {
        FloatVectorValues values = FloatVectorValues.fromFloats(vectors, DIMENSION);
        return new RandomVectorScorer.AbstractRandomVectorScorer(values) {
            @Override
            public float score(int node) {
                return node % 2 == 0 ? Float.NaN : VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors.get(node));
            }
        };
    }

    private TopKnnCollector search(@Nullable Graph graph, int k) throws IOException {
        TopKnnCollector collector = new TopKnnCollector(k, Integer.MAX_VALUE, new SearchEffort(100));
        new SegmentSearch(graph, scorer(), VECTORS, collector, AcceptDocs.fromLiveDocs(null, VECTORS)).run(query);
        return collector;
    }

    private void assertNearest(ScoreDoc[] hits) {
        List<Integer> nearest = new ArrayList<>();
        for (int i = 1; i < VECTORS; i += 2) {
            nearest.add(i);
        }
        nearest.sort((a, b) -> Float.compare(
                VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors.get(b)),
                VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors.get(a))));
        assertThat(hits).extracting(hit -> hit.doc).isEqualTo(nearest.subList(0, K));
    }

    @Test
    void aSearchFindsTheNearestThatHaveAScoreAndIsNoWider() throws IOException {
        TopKnnCollector found = search(graph(), K);
        assertThat(found.visitedCount()).isLessThan(VECTORS / 2);
        assertNearest(found.topDocs().scoreDocs);
    }

    @Test
    void aScanFindsTheNearestThatHaveAScoreAndTheOthersLast() throws IOException {
        assertNearest(search(null, K).topDocs().scoreDocs);
        ScoreDoc[] all = search(null, VECTORS).topDocs().scoreDocs;
        assertThat(all).hasSize(VECTORS);
        for (int i = 0; i < VECTORS; i++) {
            assertThat(all[i].score == 0).isEqualTo(i >= VECTORS / 2);
        }
    }
}
