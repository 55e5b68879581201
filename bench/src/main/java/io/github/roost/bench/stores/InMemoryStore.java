package io.github.roost.bench.stores;

import dev.langchain4j.data.document.Metadata;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.filter.Filter;
import dev.langchain4j.store.embedding.filter.MetadataFilterBuilder;
import dev.langchain4j.store.embedding.inmemory.InMemoryEmbeddingStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** LangChain4j's embedding store in memory, which compares all vectors, and is written to a file of JSON when it is closed. */
final class InMemoryStore implements TextStore {
    private final Path file;
    private final InMemoryEmbeddingStore<TextSegment> store;

    InMemoryStore(Path folder) {
        this.file = folder.resolve("embeddings.json");
        this.store = Files.exists(file) ? InMemoryEmbeddingStore.fromFile(file) : new InMemoryEmbeddingStore<>();
    }

    @Override
    public void add(List<StoredText> added) {
        store.addAll(
                added.stream().map(StoredText::id).toList(),
                added.stream().map(each -> Embedding.from(each.vector())).toList(),
                added.stream().map(InMemoryStore::segment).toList());
    }

    private static TextSegment segment(StoredText text) {
        return TextSegment.from(
                text.text(),
                new Metadata()
                        .put(StoredText.TENANT, text.tenant())
                        .put(StoredText.SOURCE, text.source())
                        .put(StoredText.PAGE, text.page()));
    }

    @Override
    public int[] search(float[] vector, int query, Condition condition, int effort) {
        EmbeddingSearchRequest request = EmbeddingSearchRequest.builder()
                .queryEmbedding(Embedding.from(vector))
                .maxResults(K)
                .filter(filter(condition, query))
                .build();
        return store.search(request).matches().stream()
                .mapToInt(match -> TextNumbers.of(match.embeddingId()))
                .toArray();
    }

    private static @Nullable Filter filter(Condition condition, int query) {
        int value = condition.value(query);
        return switch (condition) {
            case ALL -> null;
            case PAGES -> MetadataFilterBuilder.metadataKey(StoredText.PAGE).isLessThan(value);
            case TENANT -> MetadataFilterBuilder.metadataKey(StoredText.TENANT).isEqualTo(StoredText.tenant(value));
            case SOURCE -> MetadataFilterBuilder.metadataKey(StoredText.SOURCE).isEqualTo(StoredText.source(value));
        };
    }

    @Override
    public int size() {
        return store.size();
    }

    @Override
    public void close() {
        store.serializeToFile(file);
    }
}
