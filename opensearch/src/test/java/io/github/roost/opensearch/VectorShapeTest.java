package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.opensearch.VectorShape.Elements;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The scores of distances. */
class VectorShapeTest {
    private static final float[] A = {1, 0, 0};
    private static final float[] B = {.6f, .8f, 0};
    private static final byte[] C = {3, -100, 7};
    private static final byte[] D = {90, 20, -1};

    @ParameterizedTest
    @CsvSource({"EUCLIDEAN,0.8", "COSINE,0.4", "DOT_PRODUCT,-0.6", "MAXIMUM_INNER_PRODUCT,-0.6"})
    void vectorsOfFloatsAtADistanceHaveItsScore(VectorSimilarityFunction similarity, float distance) {
        assertThat(new VectorShape(3, Elements.FLOAT, similarity).score(distance))
                .isCloseTo(similarity.compare(A, B), within(1e-6f));
    }

    /** Their squared distance is 22,033, and their inner product -1,737. */
    @ParameterizedTest
    @CsvSource({"EUCLIDEAN,22033", "COSINE,1.187849", "DOT_PRODUCT,1737", "MAXIMUM_INNER_PRODUCT,1737"})
    void vectorsOfBytesAtADistanceHaveItsScore(VectorSimilarityFunction similarity, float distance) {
        assertThat(new VectorShape(3, Elements.BYTE, similarity).score(distance))
                .isCloseTo(similarity.compare(C, D), within(1e-6f));
    }

    @ParameterizedTest
    @CsvSource({
        "EUCLIDEAN,FLOAT,-0.1",
        "COSINE,FLOAT,-0.1",
        "COSINE,BYTE,2.1",
        "DOT_PRODUCT,FLOAT,1.1",
        "DOT_PRODUCT,FLOAT,-1.1",
        "DOT_PRODUCT,BYTE,-50000",
    })
    void aDistanceThatNoVectorsHaveIsRefused(VectorSimilarityFunction similarity, Elements elements, float distance) {
        assertThatThrownBy(() -> new VectorShape(3, elements, similarity).score(distance))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("max_distance must be between")
                .hasMessageEndingWith("got " + distance);
    }
}
