package io.github.roost.documents;

import io.github.roost.vector.SearchRequest;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Documents of one name in a {@link DocumentStore}, whose vectors have one dimension: that of the first. It exists from its first document on.
 *
 * <p>A change has reached the disk when its call returns, and a search that begins then sees it. A search beside a change finds each document
 * as it was or as it is. Thread-safe; calls block. Searches compute on
 * the orchestrator's workers, except where a filter allows few documents: these are compared in the calling thread.
 */
public final class DocumentCollection {
    private final DocumentStore handle;
    private final StoredCollection stored;

    DocumentCollection(DocumentStore handle, StoredCollection stored) {
        this.handle = handle;
        this.stored = stored;
    }

    /**
     * Puts documents; one whose id is there is replaced. All are checked first. If the process is killed during the call, some of a large
     * number may have been put, each whole.
     *
     * @param documents the documents; of two with one id, the later counts
     * @throws IllegalArgumentException if a vector has another dimension than the collection, is not finite, or is zero and the metric is
     *     cosine; nothing is changed
     * @throws io.github.roost.vector.TableFullException if they exceed the memory limit; nothing is changed
     * @throws java.io.UncheckedIOException if the file cannot be written; the store must be opened again
     */
    public void put(Collection<Document> documents) {
        open().put(Objects.requireNonNull(documents, "documents must not be null"));
    }

    /**
     * Removes documents.
     *
     * @param ids their ids; those that are not there are ignored
     * @return how many were there
     */
    public int remove(Collection<String> ids) {
        return open().remove(Objects.requireNonNull(ids, "ids must not be null"));
    }

    /**
     * Removes the documents that meet a filter.
     *
     * @param filter the filter
     * @return how many there were
     */
    public int remove(DocumentFilter filter) {
        return open().remove(Objects.requireNonNull(filter, "filter must not be null"));
    }

    /** Removes all documents and the collection itself; the next document may have another dimension. */
    public void clear() {
        open().clear();
    }

    /**
     * {@return a document, or null if there is none}
     *
     * @param id its id
     */
    public @Nullable Document get(String id) {
        return open().get(Objects.requireNonNull(id, "id must not be null"));
    }

    /** {@return the number of documents} */
    public int size() {
        return open().size();
    }

    /**
     * Finds the nearest documents.
     *
     * @param request query, k, effort, radius and deadline; without an {@link io.github.roost.vector.IdFilter}
     * @param filter which documents may be found, or null for all
     * @return the documents, the nearest first: k, or all within the radius that the filter allows; none if the collection is empty
     * @throws IllegalArgumentException if the query does not fit the collection
     * @throws io.github.roost.core.DeadlineExceededException if the deadline passes
     * @throws io.github.roost.core.RejectedSearchException if the queues of the workers are full
     */
    public List<Match> search(SearchRequest request, @Nullable DocumentFilter filter) {
        return open().search(request, filter);
    }

    private StoredCollection open() {
        handle.requireOpen();
        return stored;
    }

    /**
     * A document that a search has found.
     *
     * @param document the document, with its vector as it was put
     * @param distance the distance from the query, in the metric of the store
     */
    public record Match(Document document, float distance) {}
}
