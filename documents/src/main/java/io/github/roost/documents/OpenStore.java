package io.github.roost.documents;

import io.github.roost.core.Orchestrator;
import io.github.roost.documents.file.DocumentFile;
import io.github.roost.vector.Metric;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.Deflater;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * An open folder of documents, shared by all handles of the process.
 *
 * <p>One lock, {@code writer}, orders all changes of all collections, so a commit between two changes has whole changes only. A change is
 * acknowledged when a sync that began after it has ended: callers that wait at once share one sync. If a commit or sync fails, nobody
 * knows what the disk has: the store refuses all further changes until it is opened again, which reads what the disk has.
 */
final class OpenStore {
    private static final String FILE = "documents.mv";
    /** By the identity of their files, which may have several names. */
    private static final Map<Object, OpenStore> OPEN = new HashMap<>();

    private final Path folder;
    private final StoreOptions options;
    private final Metric metric;
    private final DocumentFile file;
    private final Object key;
    private final Orchestrator orchestrator;
    private final Map<String, StoredCollection> collections = new ConcurrentHashMap<>();

    private final ReentrantLock writer = new ReentrantLock();
    private final ReentrantLock syncing = new ReentrantLock();
    /** Changes so far; written under {@code writer}. */
    private long changes;
    /** Whether a part of the change under way has been committed; under {@code writer}. */
    private boolean isPartDurable;
    /** Changes that the disk has; written under {@code syncing}. */
    private long durable;

    private volatile @Nullable Throwable failure;
    /** Under the lock of {@code OPEN}. */
    private int handles;

    private OpenStore(Path folder, StoreOptions options) throws IOException {
        this.folder = folder;
        this.options = options;
        this.file = DocumentFile.open(folder.resolve(FILE), options.cacheBytes());
        try {
            Metric wanted = options.metric() == null ? Metric.COSINE : options.metric();
            String kept = file.options(wanted.name());
            this.metric = kept == null ? wanted : metric(kept);
            requireMetric(options);
            file.commit();
            file.sync();
            this.key = keyOf(file.path());
            this.orchestrator = options.orchestrator() == null ? SharedOrchestrator.acquire() : options.orchestrator();
        } catch (IOException | RuntimeException | Error failed) {
            file.abandon();
            if (failed instanceof UncheckedIOException refused) {
                throw refused.getCause();
            }
            throw failed;
        }
    }

    private Metric metric(String kept) throws IOException {
        return Arrays.stream(Metric.values())
                .filter(each -> each.name().equals(kept))
                .findAny()
                .orElseThrow(() -> new IOException(file.path() + " is damaged: it has the metric '" + kept
                        + "', expected one of " + Arrays.toString(Metric.values())));
    }

    /** Opens a folder, or shares it if this process has opened it, under whatever name. */
    static OpenStore acquire(Path folder, StoreOptions options) throws IOException {
        Files.createDirectories(folder);
        Path real = folder.toRealPath();
        synchronized (OPEN) {
            Path file = real.resolve(FILE);
            OpenStore store = Files.exists(file) ? OPEN.get(keyOf(file)) : null;
            if (store == null) {
                store = new OpenStore(real, options);
                OPEN.put(store.key, store);
            }
            store.requireMetric(options);
            Orchestrator wanted = options.orchestrator();
            if (wanted != null && wanted != store.orchestrator) {
                throw new IllegalArgumentException(real + " is open with another orchestrator");
            }
            if (store.failure != null) {
                throw new IOException(
                        "a write to the documents in " + real + " has failed: close all stores that use it first",
                        store.failure);
            }
            store.handles++;
            return store;
        }
    }

    private static Object keyOf(Path file) throws IOException {
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        return key == null ? file : key;
    }

    /** What is written to a file that nobody can find again would be lost. */
    void requireInPlace() throws IOException {
        if (!Files.exists(file.path()) || !keyOf(file.path()).equals(key)) {
            throw new IOException(file.path() + " has been moved or deleted while it was open");
        }
    }

    private void requireMetric(StoreOptions wanted) {
        if (wanted.metric() != null && wanted.metric() != metric) {
            throw new IllegalArgumentException(
                    "the documents in " + folder + " have the metric " + metric + ", not " + wanted.metric());
        }
    }

    /** Gives a handle back; the last one closes the folder. */
    void release() {
        synchronized (OPEN) {
            if (--handles > 0) {
                return;
            }
            OPEN.remove(key);
            try {
                close();
            } finally {
                if (options.orchestrator() == null) {
                    SharedOrchestrator.release();
                }
            }
        }
    }

    private void close() {
        writer.lock();
        try {
            collections.values().forEach(StoredCollection::refuse);
        } finally {
            writer.unlock();
        }
        try {
            collections.values().forEach(StoredCollection::close);
        } finally {
            closeFile();
        }
    }

    private void closeFile() {
        syncing.lock();
        writer.lock();
        try {
            if (failure == null) {
                // For callers that still wait for their change.
                file.commit();
                file.sync();
                durable = changes;
                file.close();
            }
        } finally {
            // Nothing but this gives the file's lock back if it is not closed by now.
            file.abandon();
            writer.unlock();
            syncing.unlock();
        }
    }

    StoredCollection collection(String name) {
        return collections.computeIfAbsent(name, _ -> new StoredCollection(this, name));
    }

    List<String> collections() {
        requireReadable();
        return file.collections();
    }

    /** Makes a change of any collection, and returns when it is on the disk. If it fails, so is what was undone of it. */
    void change(Runnable change) {
        long made;
        Throwable refused = null;
        writer.lock();
        try {
            requireSound();
            isPartDurable = false;
            try {
                change.run();
            } catch (Throwable failed) {
                if (!isPartDurable || failure != null) {
                    throw failed;
                }
                refused = failed;
            }
            made = ++changes;
        } finally {
            writer.unlock();
        }
        makeDurable(made);
        if (refused instanceof Error error) {
            throw error;
        }
        if (refused instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /** Writes the part of a large change that has been made, so that it does not fill the heap. Called within a change. */
    void commitPart() {
        isPartDurable = true;
        try {
            file.commit();
            file.sync();
        } catch (Throwable failed) {
            failure = failed;
            throw failed;
        }
    }

    private void makeDurable(long wanted) {
        syncing.lock();
        try {
            if (durable >= wanted) {
                return;
            }
            requireSound();
            requireInPlace();
            long reached;
            writer.lock();
            try {
                reached = changes;
                file.commit();
            } finally {
                writer.unlock();
            }
            file.sync();
            durable = reached;
        } catch (IOException moved) {
            failure = moved;
            throw new UncheckedIOException(moved.getMessage(), moved);
        } catch (Throwable failed) {
            failure = failed;
            throw failed;
        } finally {
            syncing.unlock();
        }
    }

    /** After this, all changes are refused. */
    void fail(Throwable cause) {
        failure = cause;
    }

    private void requireSound() {
        Throwable cause = failure;
        if (cause != null) {
            throw refused("changed", cause);
        }
    }

    /** Fails if MVStore has closed the file, as it does when it cannot write a commit: some pages would still be in memory, others not. */
    void requireReadable() {
        Throwable cause = failure;
        if (cause != null && file.isClosed()) {
            throw refused("read or changed", cause);
        }
    }

    private IllegalStateException refused(String what, Throwable cause) {
        return new IllegalStateException(
                "the documents in " + folder + " cannot be " + what
                        + " since a write has failed; close and open them again: " + cause.getMessage(),
                cause);
    }

    /** Copies the store to an archive. Changes wait; searches go on. */
    void backup(Path archive) throws IOException {
        writer.lock();
        try {
            requireSound();
            commitPart();
            Uninterrupted.call(() -> {
                WholeFile.replace(archive, channel -> {
                    ZipOutputStream zip = new ZipOutputStream(Channels.newOutputStream(channel));
                    zip.setLevel(Deflater.BEST_SPEED);
                    file.backup(zip);
                    zip.finish();
                });
                return archive;
            });
        } finally {
            writer.unlock();
        }
    }

    Path folder() {
        return folder;
    }

    DocumentFile file() {
        return file;
    }

    Orchestrator orchestrator() {
        return orchestrator;
    }

    Metric metric() {
        return metric;
    }

    long memoryLimit() {
        return options.memoryLimit();
    }
}
