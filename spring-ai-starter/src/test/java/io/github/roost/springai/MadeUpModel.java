package io.github.roost.springai;

import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;

/** Gives each text a vector of its own, and equal texts the same one. */
final class MadeUpModel implements EmbeddingModel {
    private static final int DIMENSION = 64;

    @Override
    public EmbeddingResponse call(EmbeddingRequest request) {
        List<String> texts = request.getInstructions();
        return new EmbeddingResponse(IntStream.range(0, texts.size())
                .mapToObj(i -> new Embedding(vector(texts.get(i)), i))
                .toList());
    }

    @Override
    public float[] embed(Document document) {
        return vector(Objects.requireNonNull(document.getText()));
    }

    static float[] vector(String text) {
        Random random = new Random(text.hashCode());
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }

    @Override
    public int dimensions() {
        return DIMENSION;
    }
}
