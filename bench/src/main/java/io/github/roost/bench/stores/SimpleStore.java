package io.github.roost.bench.stores;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.ai.vectorstore.filter.FilterExpressionBuilder;

/** Spring AI's store in memory, which compares all vectors, and is written to a file of JSON when it is closed. */
final class SimpleStore implements TextStore {
    /** The vector that each thread searches for. */
    private static final ThreadLocal<float[]> ASKED = new ThreadLocal<>();

    private final Path file;
    private final GivenVectors vectors = new GivenVectors();
    private final Counted store = new Counted(vectors);

    /** Shows how many documents there are. */
    private static final class Counted extends SimpleVectorStore {
        Counted(EmbeddingModel model) {
            super(SimpleVectorStore.builder(model));
        }

        int size() {
            return store.size();
        }

        /** What is loaded would be in a map that must not be searched beside changes. */
        @Override
        public void load(File file) {
            super.load(file);
            store = new ConcurrentHashMap<>(store);
        }
    }

    /** Gives texts the vectors that they have already. */
    private static final class GivenVectors implements EmbeddingModel {
        /** Used by the adding thread. */
        private final Map<String, float[]> added = new HashMap<>();

        private volatile int dimensions;

        @Override
        public float[] embed(Document document) {
            return Objects.requireNonNull(added.get(document.getId()));
        }

        @Override
        public float[] embed(String query) {
            return Objects.requireNonNull(ASKED.get());
        }

        /** The store asks for it at each call, also in threads that never search. */
        @Override
        public int dimensions() {
            return dimensions;
        }

        @Override
        public EmbeddingResponse call(EmbeddingRequest request) {
            throw new UnsupportedOperationException("only documents and queries have vectors, got " + request);
        }
    }

    SimpleStore(Path folder) {
        this.file = folder.resolve("vectors.json");
        if (Files.exists(file)) {
            store.load(file.toFile());
        }
    }

    @Override
    public void add(List<StoredText> texts) {
        texts.forEach(each -> {
            vectors.added.put(each.id(), each.vector());
            vectors.dimensions = each.vector().length;
        });
        store.add(texts.stream().map(SimpleStore::document).toList());
        vectors.added.clear();
    }

    private static Document document(StoredText text) {
        return new Document(
                text.id(),
                text.text(),
                Map.of(
                        StoredText.TENANT, text.tenant(),
                        StoredText.SOURCE, text.source(),
                        StoredText.PAGE, text.page()));
    }

    @Override
    public int[] search(float[] vector, int query, Condition condition, int effort) {
        ASKED.set(vector);
        SearchRequest.Builder request =
                SearchRequest.builder().query("a query").topK(K).similarityThresholdAll();
        FilterExpressionBuilder filters = new FilterExpressionBuilder();
        int value = condition.value(query);
        switch (condition) {
            case ALL -> {}
            case PAGES ->
                request.filterExpression(filters.lt(StoredText.PAGE, value).build());
            case TENANT ->
                request.filterExpression(
                        filters.eq(StoredText.TENANT, StoredText.tenant(value)).build());
            case SOURCE ->
                request.filterExpression(
                        filters.eq(StoredText.SOURCE, StoredText.source(value)).build());
        }
        return store.similaritySearch(request.build()).stream()
                .mapToInt(found -> TextNumbers.of(found.getId()))
                .toArray();
    }

    @Override
    public int size() {
        return store.size();
    }

    @Override
    public void close() {
        store.save(file.toFile());
    }
}
