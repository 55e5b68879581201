package io.github.roost.langchain4j;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.util.List;
import java.util.Random;

/** Gives each text a vector of its own, and equal texts the same one. */
final class MadeUpModel implements EmbeddingModel {
    private static final int DIMENSION = 384;

    @Override
    public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
        return Response.from(segments.stream()
                .map(segment -> {
                    Random random = new Random(segment.text().hashCode());
                    float[] vector = new float[DIMENSION];
                    for (int i = 0; i < DIMENSION; i++) {
                        vector[i] = (float) random.nextGaussian();
                    }
                    return Embedding.from(vector);
                })
                .toList());
    }
}
