package io.github.roost.documents;

import io.github.roost.core.Orchestrator;
import io.github.roost.documents.file.DocumentFile;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
    private static final Map<Path, OpenStore> OPEN = new HashMap<>();

    private final Path folder;
    private final StoreOptions options;
    private final Metric metric;
    private final DocumentFile file;
    private final Orchestrator orchestrator;
    private final Map<String, StoredCollection> collections = new ConcurrentHashMap<>();

    private final ReentrantLock writer = new ReentrantLock();
    private final ReentrantLock syncing = new ReentrantLock();
    /** Changes so far; written under {@code writer}. */
    private long changes;
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
            this.metric = kept == null ? wanted : Metric.valueOf(kept);
            requireMetric(options);
            file.commit();
            file.sync();
            this.orchestrator = options.orchestrator() == null ? SharedOrchestrator.acquire() : options.orchestrator();
        } catch (RuntimeException | Error failed) {
            file.close();
            throw failed;
        }
    }

    /** Opens a folder, or shares it if this process has opened it, under whatever name. */
    static OpenStore acquire(Path folder, StoreOptions options) throws IOException {
        Files.createDirectories(folder);
        Path real = folder.toRealPath();
        synchronized (OPEN) {
            OpenStore store = OPEN.get(real);
            if (store == null) {
                store = new OpenStore(real, options);
                OPEN.put(real, store);
            }
            store.requireMetric(options);
            Orchestrator wanted = options.orchestrator();
            if (wanted != null && wanted != store.orchestrator) {
                throw new IllegalArgumentException(real + " is open with another orchestrator");
            }
            store.handles++;
            return store;
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
            OPEN.remove(folder);
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
        try {
            collections.values().forEach(StoredCollection::close);
        } finally {
            if (failure == null) {
                file.close();
            } else {
                file.abandon();
            }
        }
    }

    StoredCollection collection(String name) {
        return collections.computeIfAbsent(name, _ -> new StoredCollection(this, name));
    }

    List<String> collections() {
        return file.collections();
    }

    /** Makes a change of any collection, and returns when it is on the disk. */
    void change(Runnable change) {
        long made;
        writer.lock();
        try {
            requireSound();
            change.run();
            made = ++changes;
        } finally {
            writer.unlock();
        }
        makeDurable(made);
    }

    /** Writes the part of a large change that has been made, so that it does not fill the heap. Called within a change. */
    void commitPart() {
        try {
            file.commit();
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
            throw new IllegalStateException(
                    "the documents in " + folder
                            + " cannot be changed since a write has failed; close and open them again",
                    cause);
        }
    }

    /** Copies the store to an archive. Changes wait; searches go on. */
    void backup(Path archive) throws IOException {
        Path part = Files.createTempFile(archive.toAbsolutePath().getParent(), archive.getFileName() + ".", ".part");
        try {
            writer.lock();
            try {
                requireSound();
                commitPart();
                try (OutputStream out = Files.newOutputStream(part);
                        ZipOutputStream zip = new ZipOutputStream(out)) {
                    zip.setLevel(Deflater.BEST_SPEED);
                    file.backup(zip);
                }
            } finally {
                writer.unlock();
            }
            Files.move(part, archive, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
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
