package io.github.roost.langchain4j;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.store.embedding.EmbeddingStore;
import dev.langchain4j.store.embedding.EmbeddingStoreWithoutMetadataIT;
import org.junit.jupiter.api.extension.RegisterExtension;

/** LangChain4j's conformance kit: stores without metadata. */
class RoostWithoutMetadataTest extends EmbeddingStoreWithoutMetadataIT {
    @RegisterExtension
    private final StoreOfTest opened = new StoreOfTest();

    @Override
    protected EmbeddingStore<TextSegment> embeddingStore() {
        return opened.store();
    }

    @Override
    protected EmbeddingModel embeddingModel() {
        return new MadeUpModel();
    }
}
