package io.github.roost.documents;

import io.github.roost.documents.file.CollectionState;
import io.github.roost.documents.file.StoredDocument;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.Vectors;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A collection of an open store: its part of the file, its index of metadata, and its vector table. Loaded at first use. Changes are made under the
 * store's lock, one document at a time under that of {@link CollectionParts} too.
 */
final class StoredCollection {
    /** Documents of one change that are committed at once. */
    private static final int COMMIT_AFTER = 1_000;

    private final OpenStore store;
    private final String name;
    private final CollectionParts parts;
    private final CollectionSearch search;
    private final TableSaving saving;

    private volatile boolean isLoaded;
    /** Whether the table is one that takes less memory; written like what is in {@code parts}. */
    private boolean hasSmallTable;

    StoredCollection(OpenStore store, String name) {
        this.store = store;
        this.name = name;
        this.parts = new CollectionParts(store, name);
        this.search = new CollectionSearch(parts);
        this.saving = new TableSaving(parts);
    }

    private void load() {
        if (!isLoaded) {
            parts.write(this::loadOnce);
        }
    }

    private void loadOnce() {
        if (isLoaded) {
            return;
        }
        parts.requireOpen();
        CollectionState kept = store.file().collection(name);
        if (kept != null) {
            int documents = store.file().documents(kept.number());
            LiveTable table = parts.files.open(kept, documents);
            try {
                table.memoryLimit(store.memoryLimit());
                hasSmallTable = kept.snapshot() == 0 && documents <= VectorTableFiles.FEW;
                parts.table = table;
                parts.state = kept;
                parts.fillIndex(documents <= VectorTableFiles.FEW ? Runnable::run : StoredCollection::startThread);
                saving.opened();
                isLoaded = true;
            } finally {
                if (!isLoaded) {
                    parts.table = null;
                    table.close();
                }
            }
        }
        isLoaded = true;
    }

    private static void startThread(Runnable task) {
        Thread.ofPlatform().daemon().name("roost-documents-index").start(task);
    }

    void put(Collection<Document> documents) {
        load();
        List<Document> all = List.copyOf(documents);
        if (all.isEmpty()) {
            return;
        }
        store.change(() -> {
            parts.requireOpen();
            requireVectors(all);
            boolean isNew = parts.state.number() == 0;
            Deque<Runnable> undo = new ArrayDeque<>();
            try {
                parts.write(() -> begin(all));
                int made = 0;
                for (Document each : all) {
                    parts.write(() -> put(each, undo));
                    if (++made % COMMIT_AFTER == 0) {
                        store.commitPart();
                    }
                }
            } catch (Throwable failed) {
                undo(undo, isNew, failed);
                throw failed;
            }
        });
        saving.startIfChanged();
    }

    /** Makes the collection and its table if there is none, and a table for many rows if they will be. */
    private void begin(List<Document> documents) {
        int dimension = documents.getFirst().vector().length;
        if (parts.state.number() == 0) {
            parts.state = new CollectionState(store.file().newNumber(), dimension, 0, 0, 0);
        }
        boolean areFew = parts.index().size() + documents.size() <= VectorTableFiles.FEW;
        LiveTable old = parts.table;
        if (old == null || (hasSmallTable && !areFew)) {
            LiveTable next = parts.files.ofVectors(parts.state, areFew);
            next.memoryLimit(store.memoryLimit());
            parts.table = next;
            hasSmallTable = areFew;
            if (old != null) {
                old.close();
            }
        }
    }

    /** All vectors are checked before the first document is put. */
    private void requireVectors(List<Document> documents) {
        int kept = parts.state.dimension();
        int dimension = kept == 0 ? documents.getFirst().vector().length : kept;
        Vectors.requireRange("dimension", dimension, 1, Vectors.MAX_DIMENSIONS);
        for (Document each : documents) {
            try {
                Vectors.require("the vector", each.vector(), dimension, store.metric());
            } catch (IllegalArgumentException unfit) {
                throw new IllegalArgumentException("document '" + each.id() + "': " + unfit.getMessage(), unfit);
            }
        }
    }

    private void undo(Deque<Runnable> undo, boolean isNew, Throwable failed) {
        try {
            if (!undo.isEmpty()) {
                // What was there before must fit in again.
                parts.table().memoryLimit(MemoryLimited.NO_MEMORY_LIMIT);
                undo.forEach(parts::write);
                parts.table().memoryLimit(store.memoryLimit());
            }
            if (isNew) {
                parts.write(this::forget);
            }
        } catch (Throwable again) {
            failed.addSuppressed(again);
            store.fail(failed);
        }
    }

    private void put(Document document, Deque<Runnable> undo) {
        parts.requireOpen();
        int known = parts.row(document.id());
        boolean isNew = known < 0;
        int row = isNew ? requireNextRow() : known;
        int number = parts.state.number();
        StoredDocument old = isNew ? null : store.file().document(number, row);
        float[] oldVector = isNew ? null : store.file().vector(number, row);
        StoredDocument stored = new StoredDocument(document.id(), document.metadata(), document.text());
        place(row, old, stored, document.vector());
        if (isNew) {
            parts.state = parts.state.withNextRow(row + 1);
        }
        noteChange(row);
        undo.push(() -> {
            if (old == null || oldVector == null) {
                take(row, stored);
            } else {
                place(row, stored, old, oldVector);
            }
            noteChange(row);
        });
    }

    private int requireNextRow() {
        int row = parts.state.nextRow();
        if (row == Integer.MAX_VALUE) {
            throw new IllegalStateException("collection '" + name + "' has had " + row + " documents, the most");
        }
        return row;
    }

    /** Puts a document at a row. What may be refused comes first: then nothing is changed. */
    private void place(int row, @Nullable StoredDocument old, StoredDocument document, float[] vector) {
        byte[] encoded = document.encode();
        parts.table().put(row, vector);
        try {
            store.file().put(parts.state.number(), row, document.id(), encoded, vector);
            if (old != null) {
                parts.index().remove(row, old.metadata());
            }
            parts.index().add(row, document.metadata());
        } catch (Throwable failed) {
            store.fail(failed);
            throw failed;
        }
    }

    private void take(int row, StoredDocument document) {
        try {
            store.file().remove(parts.state.number(), row, document.id());
            parts.index().remove(row, document.metadata());
            parts.table().remove(row);
        } catch (Throwable failed) {
            store.fail(failed);
            throw failed;
        }
    }

    private void noteChange(int row) {
        parts.version++;
        parts.state = parts.state.withChange();
        if (saving.needsChanges()) {
            store.file().changed(parts.state.number(), parts.state.change(), row);
        }
        store.file().collection(name, parts.state);
    }

    int remove(Collection<String> ids) {
        List<String> all = List.copyOf(ids);
        return remove(() -> all.stream().mapToInt(parts::row).filter(row -> row >= 0));
    }

    int remove(DocumentFilter filter) {
        MetadataIndex.requireShallow(filter);
        return remove(() -> parts.index().rows(filter).stream());
    }

    /** Removes rows that are read under the store's lock, each as the one before it has been removed. */
    private int remove(Supplier<IntStream> rows) {
        load();
        int[] removed = new int[1];
        store.change(() -> {
            // If it cannot be read, nothing may be removed yet.
            parts.index();
            for (PrimitiveIterator.OfInt each = rows.get().iterator(); each.hasNext(); ) {
                int row = each.nextInt();
                parts.write(() -> remove(row));
                if (++removed[0] % COMMIT_AFTER == 0) {
                    store.commitPart();
                }
            }
        });
        saving.startIfChanged();
        return removed[0];
    }

    private void remove(int row) {
        parts.requireOpen();
        StoredDocument document = store.file().document(parts.state.number(), row);
        if (document != null) {
            take(row, document);
            noteChange(row);
        }
    }

    void clear() {
        load();
        saving.setClearing(true);
        try {
            saving.await();
            store.change(() -> {
                parts.requireOpen();
                parts.write(this::forget);
            });
        } finally {
            saving.setClearing(false);
        }
    }

    private void forget() {
        if (parts.state.number() > 0) {
            store.file().drop(name, parts.state.number());
            saving.forget();
        }
        if (parts.table != null) {
            parts.table.close();
            parts.table = null;
        }
        parts.newIndex();
        parts.state = CollectionParts.NONE;
        parts.version++;
    }

    @Nullable
    Document get(String id) {
        load();
        return parts.read(() -> {
            parts.requireOpen();
            int row = parts.row(id);
            return row < 0 ? null : parts.requireDocument(row);
        });
    }

    int size() {
        load();
        return parts.read(() -> {
            parts.requireOpen();
            return parts.index().size();
        });
    }

    List<DocumentCollection.Match> search(SearchRequest request, @Nullable DocumentFilter filter) {
        CollectionSearch.require(request, filter);
        load();
        return search.search(request, filter);
    }

    /** Refuses all calls from now on. Called when no change is under way. */
    void refuse() {
        parts.write(() -> {
            parts.isClosed = true;
            saving.cancelMerging();
        });
    }

    /** Saves the table if much has changed, and closes it. Called after {@link #refuse}. */
    void close() {
        saving.await();
        parts.awaitIndex();
        LiveTable closed = parts.read(() -> parts.table);
        if (closed == null) {
            return;
        }
        try {
            saving.saveAtEnd();
        } finally {
            closed.close();
        }
    }
}
