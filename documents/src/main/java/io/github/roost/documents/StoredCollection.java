package io.github.roost.documents;

import io.github.roost.core.TableClosedException;
import io.github.roost.documents.file.CollectionState;
import io.github.roost.documents.file.DocumentFile;
import io.github.roost.documents.file.StoredDocument;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.roaringbitmap.IntIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A collection of an open store: its part of the file, its index of metadata, and its vector table. Loaded at first use.
 *
 * <p>Changes are made under the store's lock, one document at a time under {@code lock} too. A search takes the rows of its filter under {@code lock},
 * searches without it, and looks its hits up under it: if a change came between, each hit is compared with its document as it is now. If a
 * hit is gone, or there may be more, the search is repeated under the lock, so that it has k hits if there are k.
 */
final class StoredCollection {
    private static final Logger LOG = LoggerFactory.getLogger(StoredCollection.class);
    /** Documents below which the table is made from its vectors at each opening. */
    private static final int MIN_SAVED = 4_096;
    /** Changes after which the table is saved anew: this many, or this share of the documents. */
    private static final int MAX_CHANGES = 10_000;

    private static final int CHANGED_SHARE = 2;
    /** Changes that are brought over at the next opening rather than saved at the end. */
    private static final int FEW_CHANGES = 1_000;
    /** Allowed rows that are compared in Java, rather than by the table: a new filter must be asked about all of the table's rows first. */
    private static final int FEW_OF_NEW_FILTER = 1_000;

    private static final int FEW_OF_KNOWN_FILTER = 32;
    /** Documents of one change that are committed at once. */
    private static final int COMMIT_AFTER = 1_000;

    /** Before the first document. */
    private static final CollectionState NONE = new CollectionState(0, 0, 0, 0, 0);

    private final OpenStore store;
    private final String name;
    private final VectorTableFiles files;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final FilterCache filters = new FilterCache();

    private volatile boolean isLoaded;
    private boolean isClosed;
    /** The rest is written under {@code lock} by the thread that has the store's lock, or loads. */
    private CollectionState state = NONE;

    private MetadataIndex index = new MetadataIndex();
    private @Nullable LiveTable table;
    private boolean hasSmallTable;
    /** Counts changes since loading. */
    private long version;
    /** The change at which the table was last to be saved, perhaps without success; under {@code lock}. */
    private long lastTried;
    /** The thread that saves the table; under {@code lock}. */
    private @Nullable Thread saving;
    /** What that thread waits for; under {@code lock}. */
    private @Nullable TableBuild<LiveTable> merging;
    /** Whether the table is about to go, so that it is not worth being saved, nor its graph waiting for; under {@code lock}. */
    private boolean isClearing;
    /** Whether rows of the saved table are in no graph, so that each opening would build it anew; under {@code lock}. */
    private boolean isSavedWithoutGraph;

    StoredCollection(OpenStore store, String name) {
        this.store = store;
        this.name = name;
        this.files = new VectorTableFiles(store, name);
    }

    private void load() {
        if (isLoaded) {
            return;
        }
        lock.writeLock().lock();
        try {
            if (isLoaded) {
                return;
            }
            requireOpen();
            CollectionState kept = store.file().collection(name);
            if (kept != null) {
                MetadataIndex documents = new MetadataIndex();
                store.file().forEachDocument(kept.number(), (row, each) -> documents.add(row, each.metadata()));
                table = files.open(kept, documents.size());
                table.memoryLimit(store.memoryLimit());
                hasSmallTable = kept.snapshot() == 0 && documents.size() <= VectorTableFiles.FEW;
                index = documents;
                state = kept;
                isSavedWithoutGraph = isWithoutGraph(table);
                if (isSavedWithoutGraph && documents.size() >= MIN_SAVED) {
                    startSaving();
                }
            }
            isLoaded = true;
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void requireOpen() {
        if (isClosed) {
            throw new TableClosedException(name);
        }
    }

    void put(Collection<Document> documents) {
        load();
        List<Document> all = List.copyOf(documents);
        if (all.isEmpty()) {
            return;
        }
        store.change(() -> {
            requireOpen();
            requireVectors(all);
            boolean isNew = state.number() == 0;
            Deque<Runnable> undo = new ArrayDeque<>();
            try {
                begin(all);
                int made = 0;
                for (Document each : all) {
                    put(each, undo);
                    if (++made % COMMIT_AFTER == 0) {
                        store.commitPart();
                    }
                }
            } catch (Throwable failed) {
                undo(undo, failed);
                if (isNew) {
                    forget();
                }
                throw failed;
            }
        });
        saveIfChanged();
    }

    /** Makes the collection and its table if there is none, and a table for many rows if they will be. */
    private void begin(List<Document> documents) {
        lock.writeLock().lock();
        try {
            int dimension = documents.getFirst().vector().length;
            if (state.number() == 0) {
                state = new CollectionState(store.file().newNumber(), dimension, 0, 0, 0);
            }
            boolean areFew = index.size() + documents.size() <= VectorTableFiles.FEW;
            LiveTable old = table;
            if (old == null || (hasSmallTable && !areFew)) {
                LiveTable next = files.ofVectors(state, areFew);
                next.memoryLimit(store.memoryLimit());
                table = next;
                hasSmallTable = areFew;
                if (old != null) {
                    old.close();
                }
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** All vectors are checked before the first document is put. */
    private void requireVectors(List<Document> documents) {
        int dimension = state.dimension() == 0 ? documents.getFirst().vector().length : state.dimension();
        Vectors.requireRange("dimension", dimension, 1, Vectors.MAX_DIMENSIONS);
        for (Document each : documents) {
            try {
                Vectors.require("the vector", each.vector(), dimension, store.metric());
            } catch (IllegalArgumentException unfit) {
                throw new IllegalArgumentException("document '" + each.id() + "': " + unfit.getMessage(), unfit);
            }
        }
    }

    private void undo(Deque<Runnable> undo, Throwable failed) {
        if (undo.isEmpty()) {
            return;
        }
        try {
            // What was there before must fit in again.
            table().memoryLimit(MemoryLimited.NO_MEMORY_LIMIT);
            undo.forEach(Runnable::run);
            table().memoryLimit(store.memoryLimit());
        } catch (Throwable again) {
            failed.addSuppressed(again);
            store.fail(failed);
        }
    }

    private void put(Document document, Deque<Runnable> undo) {
        DocumentFile file = store.file();
        lock.writeLock().lock();
        try {
            requireOpen();
            int row = file.row(state.number(), document.id());
            boolean isNew = row < 0;
            if (isNew) {
                row = state.nextRow();
                if (row == Integer.MAX_VALUE) {
                    throw new IllegalStateException(
                            "collection '" + name + "' has had " + row + " documents, the most");
                }
            }
            StoredDocument old = isNew ? null : file.document(state.number(), row);
            float[] oldVector = isNew ? null : file.vector(state.number(), row);
            StoredDocument stored = new StoredDocument(document.id(), document.metadata(), document.text());
            place(row, old, stored, document.vector());
            if (isNew) {
                state = state.withNextRow(row + 1);
            }
            noteChange(row);
            int placed = row;
            undo.push(() -> {
                lock.writeLock().lock();
                try {
                    if (old == null || oldVector == null) {
                        take(placed, stored);
                    } else {
                        place(placed, stored, old, oldVector);
                    }
                    noteChange(placed);
                } finally {
                    lock.writeLock().unlock();
                }
            });
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Puts a document at a row. What may be refused comes first: then nothing is changed. */
    private void place(int row, @Nullable StoredDocument old, StoredDocument document, float[] vector) {
        byte[] encoded = document.encode();
        table().put(row, vector);
        try {
            store.file().put(state.number(), row, document.id(), encoded, vector);
            if (old != null) {
                index.remove(row, old.metadata());
            }
            index.add(row, document.metadata());
        } catch (Throwable failed) {
            store.fail(failed);
            throw failed;
        }
    }

    private void take(int row, StoredDocument document) {
        store.file().remove(state.number(), row, document.id());
        index.remove(row, document.metadata());
        table().remove(row);
    }

    private LiveTable table() {
        LiveTable open = table;
        if (open == null) {
            throw new TableClosedException(name);
        }
        return open;
    }

    private void noteChange(int row) {
        version++;
        state = state.withChange();
        if (state.snapshot() > 0 || saving != null) {
            store.file().changed(state.number(), state.change(), row);
        }
        store.file().collection(name, state);
    }

    int remove(Collection<String> ids) {
        load();
        List<String> all = List.copyOf(ids);
        int[] removed = new int[1];
        store.change(() -> {
            for (String id : all) {
                int row = state.number() == 0 ? -1 : store.file().row(state.number(), id);
                if (row >= 0) {
                    remove(row);
                    if (++removed[0] % COMMIT_AFTER == 0) {
                        store.commitPart();
                    }
                }
            }
        });
        saveIfChanged();
        return removed[0];
    }

    int remove(DocumentFilter filter) {
        MetadataIndex.requireShallow(filter);
        load();
        int[] removed = new int[1];
        store.change(() -> {
            for (IntIterator rows = index.rows(filter).getIntIterator(); rows.hasNext(); ) {
                remove(rows.next());
                if (++removed[0] % COMMIT_AFTER == 0) {
                    store.commitPart();
                }
            }
        });
        saveIfChanged();
        return removed[0];
    }

    private void remove(int row) {
        lock.writeLock().lock();
        try {
            requireOpen();
            StoredDocument document = store.file().document(state.number(), row);
            if (document != null) {
                take(row, document);
                noteChange(row);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    void clear() {
        load();
        setClearing(true);
        try {
            awaitSaving();
            store.change(() -> {
                requireOpen();
                forget();
            });
        } finally {
            setClearing(false);
        }
    }

    private void forget() {
        lock.writeLock().lock();
        try {
            if (state.number() > 0) {
                store.file().drop(name, state.number());
                deleteSaved(state.number(), 0);
            }
            if (table != null) {
                table.close();
                table = null;
            }
            index = new MetadataIndex();
            state = NONE;
            lastTried = 0;
            isSavedWithoutGraph = false;
            version++;
        } finally {
            lock.writeLock().unlock();
        }
    }

    @Nullable
    Document get(String id) {
        load();
        lock.readLock().lock();
        try {
            requireOpen();
            int row = state.number() == 0 ? -1 : store.file().row(state.number(), id);
            return row < 0 ? null : document(row);
        } finally {
            lock.readLock().unlock();
        }
    }

    int size() {
        load();
        lock.readLock().lock();
        try {
            requireOpen();
            return index.size();
        } finally {
            lock.readLock().unlock();
        }
    }

    private @Nullable Document document(int row) {
        StoredDocument stored = store.file().document(state.number(), row);
        float[] vector = store.file().vector(state.number(), row);
        return stored == null || vector == null
                ? null
                : new Document(stored.id(), stored.text(), stored.metadata(), vector);
    }

    List<DocumentCollection.Match> search(SearchRequest request, @Nullable DocumentFilter filter) {
        if (request.filter() != IdFilter.all()) {
            throw new IllegalArgumentException("a search of documents has a DocumentFilter, not an IdFilter");
        }
        if (filter != null) {
            MetadataIndex.requireShallow(filter);
        }
        load();
        List<DocumentCollection.Match> matches = tried(request, filter);
        if (matches == null) {
            lock.readLock().lock();
            try {
                matches = tried(request, filter);
            } finally {
                lock.readLock().unlock();
            }
        }
        if (matches == null) {
            throw new IllegalStateException("collection '" + name + "' finds vectors without documents");
        }
        return matches;
    }

    /** {@return the matches, or null if changes during the search may have taken some away} */
    private @Nullable List<DocumentCollection.Match> tried(SearchRequest request, @Nullable DocumentFilter filter) {
        long before;
        LiveTable searched;
        FilterCache.@Nullable Rows allowed;
        lock.readLock().lock();
        try {
            requireOpen();
            if (table == null) {
                return List.of();
            }
            before = version;
            searched = table;
            allowed = filter == null ? null : filters.rows(filter, version, index);
        } finally {
            lock.readLock().unlock();
        }
        SearchResult found = found(searched, request, allowed);
        lock.readLock().lock();
        try {
            requireOpen();
            if (found == null) {
                return null;
            }
            boolean isSame = version == before;
            FilterCache.@Nullable Rows now = filter == null || isSame ? allowed : filters.rows(filter, version, index);
            return matches(found, request, now, isSame);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** {@return the rows, or null if the collection was cleared meanwhile} */
    private static @Nullable SearchResult found(
            LiveTable table, SearchRequest request, FilterCache.@Nullable Rows allowed) {
        try {
            if (allowed != null && areFew(allowed)) {
                return FewRows.search(table, request, allowed.set());
            }
            return table.search(allowed == null ? request : request.filter(allowed.filter()))
                    .join();
        } catch (TableClosedException cleared) {
            return null;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof TableClosedException) {
                return null;
            }
            if (failed.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw failed;
        }
    }

    private static boolean areFew(FilterCache.Rows allowed) {
        int few = allowed.filter().isCached() ? FEW_OF_KNOWN_FILTER : FEW_OF_NEW_FILTER;
        return allowed.set().getCardinality() <= few;
    }

    private @Nullable List<DocumentCollection.Match> matches(
            SearchResult found, SearchRequest request, FilterCache.@Nullable Rows allowed, boolean isSame) {
        int most = allowed == null ? index.size() : allowed.set().getCardinality();
        if (!isSame && !found.cutShort() && found.size() < Math.min(request.k(), most)) {
            return null;
        }
        List<DocumentCollection.Match> matches = new ArrayList<>(found.size());
        for (int i = 0; i < found.size(); i++) {
            long row = found.ids()[i];
            boolean isAllowed = isSame || allowed == null || allowed.set().contains((int) row);
            Document document = isAllowed ? document((int) row) : null;
            if (document == null) {
                return null;
            }
            float distance =
                    isSame ? found.distances()[i] : Distances.of(store.metric(), request.query(), document.vector());
            if (distance > request.radius()) {
                return null;
            }
            matches.add(new DocumentCollection.Match(document, distance));
        }
        if (!isSame) {
            matches.sort(Comparator.comparingDouble(DocumentCollection.Match::distance));
        }
        return matches;
    }

    private void saveIfChanged() {
        lock.writeLock().lock();
        try {
            long pending = state.change() - Math.max(state.snapshot(), lastTried);
            if (isClosed
                    || isClearing
                    || saving != null
                    || index.size() < MIN_SAVED
                    || pending < Math.max(MAX_CHANGES, index.size() / CHANGED_SHARE)) {
                return;
            }
            startSaving();
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void startSaving() {
        lastTried = state.change();
        saving = Thread.ofPlatform().daemon().name("roost-documents-save").unstarted(this::saveInBackground);
        saving.start();
    }

    /** Saves the table at once, for a process that is killed, and again once its graph is built, which may take minutes. */
    private void saveInBackground() {
        try {
            boolean isSaved = !hasChanged() || trySave();
            if (merge() && isSaved) {
                save();
            }
        } catch (TableClosedException | CancellationException ended) {
            // What has no graph gets one after the next opening.
        } catch (IOException | RuntimeException failed) {
            warnUnsaved(failed);
        } finally {
            endSaving();
        }
        saveIfChanged();
    }

    /** Saves the table; if that fails, its graph is built all the same. */
    private boolean trySave() {
        try {
            save();
            return true;
        } catch (IOException failed) {
            warnUnsaved(failed);
            return false;
        }
    }

    private boolean hasChanged() {
        lock.readLock().lock();
        try {
            return state.change() != state.snapshot();
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Waits until all rows are in graphs; false if they were. */
    private boolean merge() {
        TableBuild<LiveTable> begun;
        lock.writeLock().lock();
        try {
            requireOpen();
            if (isClearing || !isWithoutGraph(table())) {
                return false;
            }
            begun = table().startMerge();
            merging = begun;
        } finally {
            lock.writeLock().unlock();
        }
        begun.join();
        return true;
    }

    /** Whether more rows are scanned than have just been added. */
    private static boolean isWithoutGraph(LiveTable table) {
        return table.stats().parts() - table.graphParts() > 1;
    }

    private void setClearing(boolean value) {
        lock.writeLock().lock();
        try {
            isClearing = value;
            if (value) {
                cancelMerging();
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Called under {@code lock}. */
    private void cancelMerging() {
        if (merging != null) {
            merging.cancel();
        }
    }

    private void endSaving() {
        lock.writeLock().lock();
        try {
            saving = null;
            merging = null;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Saves the table. All changes up to the one that is read first are in it; later ones are kept in the file. */
    private void save() throws IOException {
        CollectionState before;
        LiveTable saved;
        // A name of its own: the table may be mapped from the file of the last one.
        store.change(this::changeIfSaved);
        lock.readLock().lock();
        try {
            before = state;
            saved = table();
        } finally {
            lock.readLock().unlock();
        }
        boolean isWithoutGraph = isWithoutGraph(saved);
        files.save(saved, before.number(), before.change());
        store.change(() -> {
            lock.writeLock().lock();
            try {
                if (state.number() == before.number()) {
                    isSavedWithoutGraph = isWithoutGraph;
                    state = state.withSnapshot(before.change());
                    store.file().collection(name, state);
                    store.file().forgetChanges(before.number(), before.change());
                }
            } finally {
                lock.writeLock().unlock();
            }
        });
        deleteSaved(before.number(), before.change());
    }

    private void changeIfSaved() {
        lock.writeLock().lock();
        try {
            if (state.number() > 0 && state.change() == state.snapshot()) {
                state = state.withChange();
                store.file().collection(name, state);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void deleteSaved(int number, long except) {
        try {
            files.deleteOthers(number, except);
        } catch (IOException left) {
            LOG.warn("old tables of '{}' cannot be deleted", name, left);
        }
    }

    private void awaitSaving() {
        Thread running;
        lock.readLock().lock();
        try {
            running = saving;
        } finally {
            lock.readLock().unlock();
        }
        boolean wasInterrupted = false;
        while (running != null && running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException ignored) {
                // A save needs the table and the file until it ends.
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Refuses all calls from now on. Called when no change is under way. */
    void refuse() {
        lock.writeLock().lock();
        try {
            isClosed = true;
            cancelMerging();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Saves the table if much has changed, and closes it. Called after {@link #refuse}. */
    void close() {
        awaitSaving();
        LiveTable closed;
        boolean isSaved;
        lock.readLock().lock();
        try {
            closed = table;
            boolean hasNewGraph = isSavedWithoutGraph && table != null && !isWithoutGraph(table);
            isSaved = index.size() < MIN_SAVED || (state.change() - state.snapshot() <= FEW_CHANGES && !hasNewGraph);
        } finally {
            lock.readLock().unlock();
        }
        if (closed == null) {
            return;
        }
        try {
            if (!isSaved) {
                save();
            }
        } catch (IOException | RuntimeException failed) {
            warnUnsaved(failed);
        } finally {
            closed.close();
        }
    }

    private void warnUnsaved(Exception failed) {
        LOG.warn("the vectors of '{}' cannot be saved; they are indexed again when it is opened", name, failed);
    }
}
