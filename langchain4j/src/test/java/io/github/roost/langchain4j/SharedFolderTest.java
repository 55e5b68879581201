package io.github.roost.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.store.embedding.EmbeddingMatch;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.filter.MetadataFilterBuilder;
import io.github.roost.documents.Document;
import io.github.roost.documents.DocumentStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Documents of a folder that other programs have put there. */
class SharedFolderTest {
    @TempDir
    private Path folder;

    @Test
    void metadataThatLangChain4jDoesNotHaveAreTextsOrLeftOut() throws IOException {
        float[] vector = {1, 0};
        try (DocumentStore documents = DocumentStore.open(folder);
                RoostEmbeddingStore store = new RoostEmbeddingStore(folder)) {
            Map<String, Object> metadata =
                    Map.of("", 1, " ", 2, "\t", 3, "open", true, "tags", List.of("a", "b"), "year", 2026);
            documents.collection("default").put(List.of(new Document("a", "text", metadata, vector)));

            List<EmbeddingMatch<TextSegment>> found = store.search(EmbeddingSearchRequest.builder()
                            .queryEmbedding(Embedding.from(vector))
                            .filter(MetadataFilterBuilder.metadataKey("year").isLessThan(Double.POSITIVE_INFINITY))
                            .maxResults(1)
                            .build())
                    .matches();

            assertThat(found.getFirst().embedded().metadata().toMap())
                    .containsOnly(Map.entry("open", "true"), Map.entry("tags", "[a, b]"), Map.entry("year", 2026));
        }
    }
}
