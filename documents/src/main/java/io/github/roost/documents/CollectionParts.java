package io.github.roost.documents;

import io.github.roost.core.TableClosedException;
import io.github.roost.documents.file.CollectionState;
import io.github.roost.documents.file.StoredDocument;
import io.github.roost.index.hnsw.LiveTable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a loaded collection consists of. All that is not final is read under {@code lock}, and written under it by the thread that has the store's
 * lock, or loads: that one may read it without.
 */
final class CollectionParts {
    /** Before the first document. */
    static final CollectionState NONE = new CollectionState(0, 0, 0, 0, 0);

    final OpenStore store;
    final String name;
    final VectorTableFiles files;

    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    CollectionState state = NONE;
    /** Filled by another thread after an opening, which needs no index to search; every change waits for it first. */
    private CompletableFuture<MetadataIndex> index = CompletableFuture.completedFuture(new MetadataIndex());
    /** Null before the first document. */
    @Nullable
    LiveTable table;
    /** Counts changes since loading. */
    long version;

    boolean isClosed;

    CollectionParts(OpenStore store, String name) {
        this.store = store;
        this.name = name;
        this.files = new VectorTableFiles(store, name);
    }

    /** Fills the index of the documents in the file. */
    void fillIndex(Executor executor) {
        int number = state.number();
        index = CompletableFuture.supplyAsync(
                () -> {
                    MetadataIndex filled = new MetadataIndex();
                    store.file().forEachDocument(number, (row, each) -> filled.add(row, each.metadata()));
                    return filled;
                },
                executor);
    }

    void newIndex() {
        index = CompletableFuture.completedFuture(new MetadataIndex());
    }

    /** {@return the index, waited for} */
    MetadataIndex index() {
        try {
            return index.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
    }

    /** Waits until the file is not read for the index any more. */
    void awaitIndex() {
        var _ = index.exceptionally(failed -> new MetadataIndex()).join();
    }

    <T extends @Nullable Object> T read(Supplier<T> read) {
        lock.readLock().lock();
        try {
            return read.get();
        } finally {
            lock.readLock().unlock();
        }
    }

    void write(Runnable change) {
        lock.writeLock().lock();
        try {
            change.run();
        } finally {
            lock.writeLock().unlock();
        }
    }

    void requireOpen() {
        if (isClosed) {
            throw new TableClosedException(name);
        }
        store.requireReadable();
    }

    LiveTable table() {
        LiveTable open = table;
        if (open == null) {
            throw new TableClosedException(name);
        }
        return open;
    }

    /** {@return the row of a document, or -1 if there is none} Read under the lock. */
    int row(String id) {
        int row = state.number() == 0 ? -1 : store.file().row(state.number(), id);
        if (row >= 0) {
            StoredDocument kept = store.file().document(state.number(), row);
            if (kept == null || !kept.id().equals(id)) {
                String found = kept == null ? "not found" : "'" + kept.id() + "'";
                throw store.file().damaged(state.number(), row, "it is " + found + ", expected '" + id + "'");
            }
        }
        return row;
    }

    /** {@return the document of a row that has one} Read under the lock. */
    Document requireDocument(int row) {
        Document found = document(row);
        if (found == null) {
            throw store.file().damaged(state.number(), row, "it is not found, or has no vector");
        }
        return found;
    }

    /** {@return the document of a row, or null if it has none, as a row of an earlier search may} */
    @Nullable
    Document document(int row) {
        StoredDocument stored = store.file().document(state.number(), row);
        float[] vector = store.file().vector(state.number(), row);
        return stored == null || vector == null
                ? null
                : new Document(stored.id(), stored.text(), stored.metadata(), vector);
    }
}
