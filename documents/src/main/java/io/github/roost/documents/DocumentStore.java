package io.github.roost.documents;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A folder of documents with vectors, embedded in the process: nothing that was acknowledged is lost when the process is killed.
 *
 * <pre>{@code
 * try (DocumentStore store = DocumentStore.open(Path.of("documents"))) {
 *     DocumentCollection guides = store.collection("guides");
 *     guides.put(List.of(new Document("a", "Hello", Map.of("year", 2026), vector)));
 *     List<DocumentCollection.Match> found = guides.search(SearchRequest.of(query, 10), null);
 * }
 * }</pre>
 *
 * <p>A process may open a folder several times: the stores share it, and the last to be closed closes it. Other processes are refused
 * meanwhile. Searches run on the workers of one orchestrator for all stores of the process, which ends with the last store, unless the builder sets
 * another. Thread-safe.
 *
 * <p>Documents are kept in a file of H2's MVStore. The vector tables are derived from them: they are saved beside it from time to time, and
 * made again if they are missing or damaged.
 */
public final class DocumentStore implements AutoCloseable {
    private final OpenStore open;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private DocumentStore(OpenStore open) {
        this.open = open;
    }

    /**
     * Opens a store, or creates it, with every option at its default.
     *
     * @param folder the folder; made if it is missing
     * @return the store, to be closed
     * @throws IOException if it cannot be read or written, is damaged, is open in another process, or has another format
     */
    public static DocumentStore open(Path folder) throws IOException {
        return builder().open(folder);
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * {@return a collection, which may be new} Its documents are read at its first use.
     *
     * @param name not blank
     */
    public DocumentCollection collection(String name) {
        requireOpen();
        if (Objects.requireNonNull(name, "name must not be null").isBlank()) {
            throw new IllegalArgumentException("the name of a collection must not be blank, got '" + name + "'");
        }
        return new DocumentCollection(this, open.collection(name));
    }

    /** {@return the names of the collections that have had a document, in order} */
    public List<String> collections() {
        requireOpen();
        return open.collections();
    }

    /**
     * Copies all documents to a zip archive, which, unpacked into an empty folder, is a store: its vector tables are made when they are
     * opened. Changes wait meanwhile; searches go on.
     *
     * @param archive the archive to write or replace
     * @throws IOException if it cannot be written; an old archive is as it was
     */
    public void backup(Path archive) throws IOException {
        requireOpen();
        open.backup(archive);
    }

    /** {@return the orchestrator whose workers search, to bind its metrics} */
    public Orchestrator orchestrator() {
        requireOpen();
        return open.orchestrator();
    }

    /** {@return the metric of all vectors} */
    public Metric metric() {
        requireOpen();
        return open.metric();
    }

    void requireOpen() {
        if (isClosed.get()) {
            throw new IllegalStateException("the store is closed");
        }
    }

    /** Closes this store. If it is the last of its folder in the process, saves the vector tables that have changed much. */
    @Override
    public void close() {
        if (!isClosed.getAndSet(true)) {
            open.release();
        }
    }

    /** Collects the options of a store. Not thread-safe. */
    public static final class Builder {
        private StoreOptions options = StoreOptions.DEFAULTS;

        private Builder() {}

        /**
         * Sets the metric of a new store.
         *
         * @param value default cosine
         * @return this builder
         */
        public Builder metric(Metric value) {
            options = new StoreOptions(
                    Objects.requireNonNull(value, "metric must not be null"),
                    options.orchestrator(),
                    options.memoryLimit(),
                    options.cacheBytes());
            return this;
        }

        /**
         * Sets the orchestrator whose workers search; it must be closed after the store.
         *
         * @param value default the one that the stores of the process share
         * @return this builder
         */
        public Builder orchestrator(Orchestrator value) {
            options = new StoreOptions(
                    options.metric(),
                    Objects.requireNonNull(value, "orchestrator must not be null"),
                    options.memoryLimit(),
                    options.cacheBytes());
            return this;
        }

        /**
         * Sets the max off-heap bytes of the vectors of each collection.
         *
         * @param bytes positive; default no limit
         * @return this builder
         */
        public Builder memoryLimit(long bytes) {
            requirePositive("memoryLimit", bytes);
            options = new StoreOptions(options.metric(), options.orchestrator(), bytes, options.cacheBytes());
            return this;
        }

        /**
         * Sets the heap that pages of the file may take.
         *
         * @param bytes positive; default a sixteenth of the heap, from 16 MiB to 256 MiB
         * @return this builder
         */
        public Builder cache(long bytes) {
            requirePositive("cache", bytes);
            options = new StoreOptions(options.metric(), options.orchestrator(), options.memoryLimit(), bytes);
            return this;
        }

        private static void requirePositive(String what, long bytes) {
            if (bytes <= 0) {
                throw new IllegalArgumentException(what + " must be positive, got " + bytes);
            }
        }

        /**
         * Opens a store, or creates it. If the process has it open, its options count, except that the metric and orchestrator must be the
         * same if they are set.
         *
         * @param folder the folder; made if it is missing
         * @return the store, to be closed
         * @throws IOException if it cannot be read or written, is damaged, is open in another process, or has another format
         * @throws IllegalArgumentException if it has another metric
         */
        public DocumentStore open(Path folder) throws IOException {
            return new DocumentStore(OpenStore.acquire(folder, options));
        }
    }
}
