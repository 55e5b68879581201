package io.github.roost.langchain4j;

import dev.langchain4j.data.document.Metadata;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.internal.Utils;
import dev.langchain4j.internal.ValidationUtils;
import dev.langchain4j.store.embedding.EmbeddingMatch;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.EmbeddingSearchResult;
import dev.langchain4j.store.embedding.EmbeddingStore;
import dev.langchain4j.store.embedding.RelevanceScore;
import dev.langchain4j.store.embedding.filter.Filter;
import io.github.roost.documents.Document;
import io.github.roost.documents.DocumentCollection;
import io.github.roost.documents.DocumentCollection.Match;
import io.github.roost.documents.DocumentStore;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An embedding store in a folder of the process's own: durable, with all filters of LangChain4j, and searched by a graph rather than one by one.
 *
 * <pre>{@code
 * try (RoostEmbeddingStore store = new RoostEmbeddingStore(Path.of("embeddings"))) {
 *     store.add(embedding, segment);
 *     List<EmbeddingMatch<TextSegment>> matches = store.search(request).matches();
 * }
 * }</pre>
 *
 * <p>What was added has reached the disk when the call returns. All stores of a process share one set of workers; stores of one folder share
 * the folder. A condition on a value of another type is not met, where LangChain4j's in-memory store throws. Scores are relevance scores,
 * from 0 to 1. Thread-safe.
 */
public final class RoostEmbeddingStore implements EmbeddingStore<TextSegment>, AutoCloseable {
    /** The collection of a store that names none. */
    private static final String DEFAULT_COLLECTION = "default";
    /** Distances are rounded: what lies on the border is found, and its score is compared then. */
    private static final float ROUNDING = 1e-5f;

    private final DocumentStore documents;
    private final DocumentCollection collection;

    /**
     * Opens the store of a folder, or creates it.
     *
     * @param folder the folder; made if it is missing
     * @throws UncheckedIOException if it cannot be read or written, or is open in another process
     */
    public RoostEmbeddingStore(Path folder) {
        this(folder, DEFAULT_COLLECTION);
    }

    /**
     * Opens one of several collections in a folder, for example one per tenant.
     *
     * @param folder the folder; made if it is missing
     * @param collection its name; not blank
     * @throws UncheckedIOException if the folder cannot be read or written, or is open in another process
     */
    public RoostEmbeddingStore(Path folder, String collection) {
        this(opened(folder), collection);
    }

    /**
     * Uses a collection of an open store, which is closed with this one.
     *
     * @param documents the store, with the metric cosine
     * @param collection the name of the collection; not blank
     * @throws IllegalArgumentException if the store has another metric
     */
    public RoostEmbeddingStore(DocumentStore documents, String collection) {
        if (documents.metric() != Metric.COSINE) {
            throw new IllegalArgumentException("the store must have the metric COSINE, got " + documents.metric());
        }
        this.documents = documents;
        this.collection = documents.collection(collection);
    }

    private static DocumentStore opened(Path folder) {
        try {
            return DocumentStore.builder().metric(Metric.COSINE).open(folder);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed.getMessage(), failed);
        }
    }

    @Override
    public String add(Embedding embedding) {
        return addAll(List.of(embedding)).getFirst();
    }

    @Override
    public void add(String id, Embedding embedding) {
        addAll(List.of(id), List.of(embedding), null);
    }

    @Override
    public String add(Embedding embedding, TextSegment segment) {
        return addAll(List.of(embedding), Collections.singletonList(segment)).getFirst();
    }

    @Override
    public List<String> addAll(List<Embedding> embeddings) {
        List<String> ids = generateIds(embeddings.size());
        addAll(ids, embeddings, null);
        return ids;
    }

    /**
     * Adds embeddings; one whose id is there is replaced.
     *
     * @param ids one per embedding
     * @param embeddings all of one dimension, not zero
     * @param segments one per embedding, or null; null for none at all
     */
    @Override
    public void addAll(List<String> ids, List<Embedding> embeddings, @Nullable List<TextSegment> segments) {
        if (ids.size() != embeddings.size() || (segments != null && segments.size() != ids.size())) {
            throw new IllegalArgumentException("as many ids, embeddings and segments are needed, got " + ids.size()
                    + ", " + embeddings.size() + " and " + (segments == null ? "none" : segments.size()));
        }
        List<Document> added = new ArrayList<>(ids.size());
        for (int i = 0; i < ids.size(); i++) {
            TextSegment segment = segments == null ? null : segments.get(i);
            added.add(new Document(
                    ids.get(i),
                    segment == null ? null : segment.text(),
                    segment == null ? Map.of() : segment.metadata().toMap(),
                    embeddings.get(i).vector()));
        }
        collection.put(added);
    }

    @Override
    public void removeAll(Collection<String> ids) {
        ValidationUtils.ensureNotEmpty(ids, "ids");
        collection.remove(ids);
    }

    @Override
    public void removeAll(Filter filter) {
        ValidationUtils.ensureNotNull(filter, "filter");
        collection.remove(Filters.documentFilter(filter));
    }

    @Override
    public void removeAll() {
        collection.clear();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the query has another dimension than the store, or more than 10,000 results are asked for
     */
    @Override
    public EmbeddingSearchResult<TextSegment> search(EmbeddingSearchRequest request) {
        SearchRequest nearest = SearchRequest.of(request.queryEmbedding().vector(), request.maxResults());
        if (request.minScore() > 0) {
            nearest = nearest.radius((float) (2 - 2 * request.minScore()) + ROUNDING);
        }
        Filter filter = request.filter();
        List<EmbeddingMatch<TextSegment>> matches = new ArrayList<>();
        for (Match each : collection.search(nearest, filter == null ? null : Filters.documentFilter(filter))) {
            double score = Math.clamp(RelevanceScore.fromCosineSimilarity(1 - (double) each.distance()), 0, 1);
            if (score >= request.minScore()) {
                matches.add(match(each.document(), score));
            }
        }
        return new EmbeddingSearchResult<>(matches);
    }

    private static EmbeddingMatch<TextSegment> match(Document document, double score) {
        String text = document.text();
        TextSegment segment =
                text == null || text.isBlank() ? null : TextSegment.from(text, Metadata.from(metadata(document)));
        return new EmbeddingMatch<>(score, document.id(), Embedding.from(document.vector()), segment);
    }

    /** Other programs may keep what LangChain4j's metadata do not have: blank names are left out, and of other types it gets the text. */
    private static Map<String, Object> metadata(Document document) {
        Map<String, Object> metadata = new HashMap<>(document.metadata());
        metadata.keySet().removeIf(Utils::isNullOrBlank);
        metadata.replaceAll(
                (name, value) -> value instanceof Boolean || value instanceof List<?> ? value.toString() : value);
        return metadata;
    }

    /** Closes the folder, if this is the last store of the process that uses it. */
    @Override
    public void close() {
        documents.close();
    }
}
