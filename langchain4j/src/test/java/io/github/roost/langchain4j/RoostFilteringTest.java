package io.github.roost.langchain4j;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.store.embedding.EmbeddingStore;
import dev.langchain4j.store.embedding.EmbeddingStoreWithFilteringIT;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** LangChain4j's conformance kit: filters. */
class RoostFilteringTest extends EmbeddingStoreWithFilteringIT {
    @TempDir
    private Path folder;

    private final EmbeddingModel model = new MadeUpModel();
    private @Nullable RoostEmbeddingStore store;

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    @Override
    protected EmbeddingStore<TextSegment> embeddingStore() {
        if (store == null) {
            store = new RoostEmbeddingStore(folder);
        }
        return store;
    }

    @Override
    protected EmbeddingModel embeddingModel() {
        return model;
    }

    @Override
    protected boolean supportsContains() {
        return true;
    }
}
