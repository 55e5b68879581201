package io.github.roost.documents;

import io.github.roost.core.TableClosedException;
import io.github.roost.documents.file.CollectionState;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.TableBuild;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves the vector table of a collection in the background, when much has changed, so that the next opening is short. All that is not final is read and
 * written under the collection's lock.
 */
final class TableSaving {
    private static final Logger LOG = LoggerFactory.getLogger(TableSaving.class);
    /** Documents below which the table is made from its vectors at each opening. */
    private static final int MIN_SAVED = 4_096;
    /** Changes after which the table is saved anew: this many, or this share of the documents. */
    private static final int MAX_CHANGES = 10_000;

    private static final int CHANGED_SHARE = 2;
    /** Changes that are brought over at the next opening rather than saved at the end. */
    private static final int FEW_CHANGES = 1_000;

    private final CollectionParts parts;

    /** The change at which the table was last to be saved, perhaps without success. */
    private long lastTried;
    /** The thread that saves the table. */
    private @Nullable Thread saving;
    /** What that thread waits for. */
    private @Nullable TableBuild<LiveTable> merging;
    /** Whether the table is about to go, so that it is not worth being saved, nor its graph waiting for. */
    private boolean isClearing;
    /** Whether rows of the saved table are in no graph, so that each opening would build it anew. */
    private boolean isSavedWithoutGraph;

    TableSaving(CollectionParts parts) {
        this.parts = parts;
    }

    /** Called under the lock, after the table was opened. */
    void opened() {
        isSavedWithoutGraph = isWithoutGraph(parts.table());
        if (isSavedWithoutGraph && parts.table().size() >= MIN_SAVED) {
            start();
        }
    }

    /** Called under the lock, when the table has gone. */
    void forget() {
        deleteSaved(parts.state.number(), 0);
        lastTried = 0;
        isSavedWithoutGraph = false;
    }

    /** {@return whether changes must be kept for a table that is or will be in a file} Called under the lock. */
    boolean needsChanges() {
        return parts.state.snapshot() > 0 || saving != null;
    }

    /** Called after a change. */
    void startIfChanged() {
        parts.write(() -> {
            long pending = parts.state.change() - Math.max(parts.state.snapshot(), lastTried);
            int documents = parts.table == null ? 0 : parts.table.size();
            if (!parts.isClosed
                    && !isClearing
                    && saving == null
                    && documents >= MIN_SAVED
                    && pending >= Math.max(MAX_CHANGES, documents / CHANGED_SHARE)) {
                start();
            }
        });
    }

    private void start() {
        lastTried = parts.state.change();
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
            parts.write(() -> {
                saving = null;
                merging = null;
            });
        }
        startIfChanged();
    }

    private boolean hasChanged() {
        return parts.read(() -> parts.state.change() != parts.state.snapshot());
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

    /** Waits until all rows are in graphs; false if they were. */
    private boolean merge() {
        parts.write(() -> {
            parts.requireOpen();
            merging = isClearing || !isWithoutGraph(parts.table())
                    ? null
                    : parts.table().startMerge();
        });
        TableBuild<LiveTable> begun = parts.read(() -> merging);
        if (begun == null) {
            return false;
        }
        begun.join();
        return true;
    }

    /** Whether more rows are scanned than have just been added. */
    private static boolean isWithoutGraph(LiveTable table) {
        return table.stats().parts() - table.graphParts() > 1;
    }

    /** Has the table neither be saved nor get its graph while the collection is cleared. */
    void setClearing(boolean value) {
        parts.write(() -> {
            isClearing = value;
            if (value) {
                cancelMerging();
            }
        });
    }

    /** Called under the lock. */
    void cancelMerging() {
        if (merging != null) {
            merging.cancel();
        }
    }

    /** Saves the table. All changes up to the one that is read first are in it; later ones are kept in the file. */
    private void save() throws IOException {
        // A name of its own: the table may be mapped from the file of the last one.
        parts.store.change(() -> parts.write(this::changeIfSaved));
        record Saved(CollectionState state, LiveTable table) {}
        Saved saved = parts.read(() -> new Saved(parts.state, parts.table()));
        boolean isWithoutGraph = isWithoutGraph(saved.table());
        int number = saved.state().number();
        long change = saved.state().change();
        parts.files.save(saved.table(), number, change);
        parts.store.change(() -> parts.write(() -> {
            if (parts.state.number() == number) {
                isSavedWithoutGraph = isWithoutGraph;
                parts.state = parts.state.withSnapshot(change);
                parts.store.file().collection(parts.name, parts.state);
                parts.store.file().forgetChanges(number, change);
            }
        }));
        deleteSaved(number, change);
    }

    private void changeIfSaved() {
        if (parts.state.number() > 0 && parts.state.change() == parts.state.snapshot()) {
            parts.state = parts.state.withChange();
            parts.store.file().collection(parts.name, parts.state);
        }
    }

    private void deleteSaved(int number, long except) {
        try {
            parts.files.deleteOthers(number, except);
        } catch (IOException left) {
            LOG.warn("old tables of '{}' cannot be deleted", parts.name, left);
        }
    }

    /** Waits until nothing is being saved, even if interrupted: a save needs the table and the file until it ends. */
    void await() {
        Thread running = parts.read(() -> saving);
        boolean wasInterrupted = false;
        while (running != null && running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException ignored) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Saves the table if much has changed. Called when nothing changes any more. */
    void saveAtEnd() {
        try {
            if (parts.read(this::isWorthSaving)) {
                save();
            }
        } catch (IOException | RuntimeException failed) {
            warnUnsaved(failed);
        }
    }

    private boolean isWorthSaving() {
        LiveTable table = parts.table;
        if (table == null || table.size() < MIN_SAVED) {
            return false;
        }
        boolean hasNewGraph = isSavedWithoutGraph && !isWithoutGraph(table);
        return hasNewGraph || parts.state.change() - parts.state.snapshot() > FEW_CHANGES;
    }

    private void warnUnsaved(Exception failed) {
        LOG.warn("the vectors of '{}' cannot be saved; they are indexed again when it is opened", parts.name, failed);
    }
}
