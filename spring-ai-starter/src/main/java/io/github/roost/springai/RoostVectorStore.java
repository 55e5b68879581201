package io.github.roost.springai;

import io.github.roost.documents.DocumentCollection;
import io.github.roost.documents.DocumentCollection.Match;
import io.github.roost.documents.DocumentStore;
import io.github.roost.vector.Metric;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.DocumentMetadata;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.vectorstore.AbstractVectorStoreBuilder;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.filter.Filter;
import org.springframework.ai.vectorstore.observation.AbstractObservationVectorStore;
import org.springframework.ai.vectorstore.observation.VectorStoreObservationContext;

/**
 * A vector store in a folder of the process's own: durable, with all filters of Spring AI, and searched by a graph rather than one by one.
 *
 * <p>What was added has reached the disk when the call returns. Scores are cosine similarities, and the metadata of a found document has its
 * {@code distance}, one minus the score. A missing value meets no comparison but {@code !=}, {@code NIN} and {@code ISNULL}. A {@link Date} is
 * kept as its text in UTC. A threshold of 0 accepts all. Thread-safe.
 */
public final class RoostVectorStore extends AbstractObservationVectorStore {
    private static final String SYSTEM = "roost";
    /** Distances are rounded: what lies on the border is found, and its score is compared then. */
    private static final float ROUNDING = 1e-5f;

    private final DocumentCollection collection;
    private final String name;

    private RoostVectorStore(Builder builder) {
        super(builder);
        if (builder.store.metric() != Metric.COSINE) {
            throw new IllegalArgumentException("the store must have the metric COSINE, got " + builder.store.metric());
        }
        this.name = builder.collection;
        this.collection = builder.store.collection(name);
    }

    /**
     * Returns a builder with every option at its default.
     *
     * @param store the open folder, with the metric cosine; the caller closes it
     * @param embeddingModel makes the vectors of documents and queries
     * @return the builder
     */
    public static Builder builder(DocumentStore store, EmbeddingModel embeddingModel) {
        return new Builder(store, embeddingModel);
    }

    @Override
    public void doAdd(List<Document> documents) {
        if (documents.isEmpty()) {
            return;
        }
        List<float[]> vectors =
                embeddingModel.embed(documents, EmbeddingOptions.builder().build(), batchingStrategy);
        List<io.github.roost.documents.Document> added = new ArrayList<>(documents.size());
        for (int i = 0; i < documents.size(); i++) {
            Document document = documents.get(i);
            Map<String, Object> metadata = new HashMap<>();
            document.getMetadata().forEach((key, value) -> metadata.put(key, Expressions.value(value)));
            added.add(new io.github.roost.documents.Document(
                    document.getId(), document.getText(), metadata, vectors.get(i)));
        }
        collection.put(added);
    }

    @Override
    public void doDelete(List<String> ids) {
        collection.remove(ids);
    }

    @Override
    protected void doDelete(Filter.Expression filter) {
        collection.remove(Expressions.documentFilter(filter));
    }

    @Override
    public List<Document> doSimilaritySearch(SearchRequest request) {
        if (request.getTopK() == 0) {
            return List.of();
        }
        var nearest =
                io.github.roost.vector.SearchRequest.of(embeddingModel.embed(request.getQuery()), request.getTopK());
        double threshold = request.getSimilarityThreshold();
        if (threshold > 0) {
            nearest = nearest.radius((float) (1 - threshold) + ROUNDING);
        }
        Filter.Expression filter = request.getFilterExpression();
        List<Document> found = new ArrayList<>();
        for (Match match : collection.search(nearest, filter == null ? null : Expressions.documentFilter(filter))) {
            double score = Math.clamp(1 - (double) match.distance(), -1, 1);
            if (threshold <= 0 || score >= threshold) {
                found.add(document(match.document(), score));
            }
        }
        return found;
    }

    private static Document document(io.github.roost.documents.Document stored, double score) {
        Map<String, Object> metadata = new HashMap<>(stored.metadata());
        metadata.put(DocumentMetadata.DISTANCE.value(), 1 - score);
        return Document.builder()
                .id(stored.id())
                .text(Objects.requireNonNullElse(stored.text(), ""))
                .metadata(metadata)
                .score(score)
                .build();
    }

    @Override
    public VectorStoreObservationContext.Builder createObservationContextBuilder(String operation) {
        return VectorStoreObservationContext.builder(SYSTEM, operation)
                .collectionName(name)
                .dimensions(embeddingModel.dimensions())
                .similarityMetric("cosine");
    }

    /** {@return the {@link DocumentCollection}} */
    @Override
    @SuppressWarnings("unchecked") // the type that the caller expects, as in other stores
    public <T> Optional<T> getNativeClient() {
        return Optional.of((T) collection);
    }

    /** Collects the options of a store. Not thread-safe. */
    public static final class Builder extends AbstractVectorStoreBuilder<Builder> {
        private final DocumentStore store;
        private String collection = "default";

        private Builder(DocumentStore store, EmbeddingModel embeddingModel) {
            super(embeddingModel);
            this.store = Objects.requireNonNull(store, "store must not be null");
        }

        /**
         * Sets the collection.
         *
         * @param value its name, not blank; default {@code default}
         * @return this builder
         */
        public Builder collection(String value) {
            collection = Objects.requireNonNull(value, "collection must not be null");
            return this;
        }

        @Override
        public RoostVectorStore build() {
            return new RoostVectorStore(this);
        }
    }
}
