package io.github.roost.documents.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.zip.ZipOutputStream;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.mvstore.RootReference;
import org.h2.mvstore.type.ByteArrayDataType;
import org.h2.mvstore.type.DataType;
import org.h2.mvstore.type.LongDataType;
import org.h2.mvstore.type.StringDataType;
import org.jspecify.annotations.Nullable;

/**
 * The documents and vectors of all collections of a store, in one file of H2's MVStore: a file of B-trees, to which each commit appends what has
 * changed. Any thread may read. Changes and commits are made under the lock of their caller, so that a commit has no half of a
 * change. Nothing else commits.
 */
public final class DocumentFile implements AutoCloseable {
    private static final String FORMAT = "2";
    private static final String FORMAT_KEY = "format";
    private static final String OPTIONS_KEY = "options";
    /** The last number of a collection. */
    private static final String NUMBERS_KEY = "collections";
    /** Bits of a key that number rows and changes within a collection. */
    private static final int NUMBER_BITS = 40;

    private static final int PAGE_BYTES = 8 << 10;
    /** Bytes that one step of compaction rewrites. */
    private static final int COMPACTION_BYTES = 1 << 20;

    private static final int FILL_PERCENT = 60;
    /** How long space that was freed is kept: longer than a sync takes, so that what the disk has refers to none that is used again. */
    private static final int RETENTION_MILLIS = 5_000;

    private final Path path;
    private final MVStore store;
    private final MVMap<String, byte[]> collections;
    /** The row of each id; the collection is the head of the key. */
    private final MVMap<String, Long> rows;

    private final MVMap<Long, byte[]> documents;
    private final MVMap<Long, byte[]> vectors;
    /** The row that each change concerned, since the vector table was saved. */
    private final MVMap<Long, Long> changes;

    private final MVMap<String, String> settings;

    private DocumentFile(Path path, MVStore store) {
        this.path = path;
        this.store = store;
        this.collections = map("collections", StringDataType.INSTANCE, ByteArrayDataType.INSTANCE);
        this.rows = map("rows", StringDataType.INSTANCE, LongDataType.INSTANCE);
        this.documents = map("documents", LongDataType.INSTANCE, ByteArrayDataType.INSTANCE);
        this.vectors = map("vectors", LongDataType.INSTANCE, ByteArrayDataType.INSTANCE);
        this.changes = map("changes", LongDataType.INSTANCE, LongDataType.INSTANCE);
        this.settings = map("settings", StringDataType.INSTANCE, StringDataType.INSTANCE);
    }

    private <K, V> MVMap<K, V> map(String name, DataType<K> keys, DataType<V> values) {
        return store.openMap(name, new MVMap.Builder<K, V>().keyType(keys).valueType(values));
    }

    /**
     * Opens a file, or creates it.
     *
     * @param path the file, in an existing folder
     * @param cacheBytes the heap that cached pages may take
     * @return the file, to be closed
     * @throws IOException if it is open elsewhere, damaged, or of another version
     */
    public static DocumentFile open(Path path, long cacheBytes) throws IOException {
        if (path.toString().indexOf('\\') >= 0) {
            throw new IOException(path + " has a backslash in its name, where MVStore expects none");
        }
        MVStore store = null;
        try {
            MVStore.Builder builder = new MVStore.Builder()
                    .fileName(SteadyFilePath.nameOf(path))
                    .cacheSize((int) Math.max(1, cacheBytes >> 20))
                    .pageSplitSize(PAGE_BYTES)
                    .autoCommitDisabled()
                    .autoCommitBufferSize(0);
            store = SteadyFilePath.closingIfFailed(builder::open);
            requireLast(path, store);
            store.setRetentionTime(RETENTION_MILLIS);
            DocumentFile file = new DocumentFile(path, store);
            file.requireFormat();
            return file;
        } catch (IOException | RuntimeException | Error failed) {
            if (store != null) {
                store.closeImmediately();
            }
            if (failed instanceof MVStoreException refused && refused.getErrorCode() == DataUtils.ERROR_FILE_LOCKED) {
                throw new IOException(path + " is open in another process, or twice in this one", failed);
            }
            if (failed instanceof RuntimeException) {
                throw new IOException(path + " cannot be opened as a store of documents: " + reason(failed), failed);
            }
            throw failed;
        }
    }

    /**
     * Refuses a file that was closed at a later version than MVStore has found, which takes the last version that is whole: a part of the
     * file is missing or damaged. A file that was not closed may have lost what was not acknowledged.
     */
    private static void requireLast(Path path, MVStore store) throws IOException {
        Map<String, Object> head = store.getStoreHeader();
        long closed = DataUtils.readHexLong(head, "clean", 0) == 0 ? 0 : DataUtils.readHexLong(head, "version", 0);
        if (store.getCurrentVersion() < closed) {
            throw new IOException(path + " is damaged or cut short: it was closed at version " + closed
                    + ", and is whole up to version " + store.getCurrentVersion());
        }
    }

    /** The words of the system or of MVStore, if one has refused something; what damage leads to has no words for people. */
    private static String reason(Throwable failed) {
        Throwable cause = failed;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        boolean isRefusal = cause instanceof IOException || cause instanceof MVStoreException;
        String message = cause.getMessage();
        return isRefusal && message != null ? message : cause.toString();
    }

    private void requireFormat() throws IOException {
        String format = settings.putIfAbsent(FORMAT_KEY, FORMAT);
        if (format != null && !format.equals(FORMAT)) {
            throw new IOException(path + " has format " + format + ", expected " + FORMAT);
        }
    }

    /** {@return the path of the file} */
    public Path path() {
        return path;
    }

    /**
     * Keeps the options of a new store.
     *
     * @param value the options
     * @return the options of an older store, or null if it is new
     */
    public @Nullable String options(String value) {
        return read(() -> settings.putIfAbsent(OPTIONS_KEY, value));
    }

    /** {@return the names of all collections} */
    public List<String> collections() {
        List<String> names = new ArrayList<>();
        read(() -> names.addAll(collections.keySet()));
        return List.copyOf(names);
    }

    /** {@return the state of a collection, or null if there is none of that name} */
    public @Nullable CollectionState collection(String name) {
        byte[] bytes = read(() -> collections.get(name));
        try {
            return bytes == null ? null : CollectionState.decode(CheckedBytes.content(name, bytes));
        } catch (IOException damaged) {
            throw damaged("collection '" + name + "'", damaged);
        }
    }

    /** Keeps the state of a collection. */
    public void collection(String name, CollectionState state) {
        write(() -> collections.put(name, CheckedBytes.of(name, state.encode())));
    }

    /** {@return a number that no collection has had} */
    public int newNumber() {
        Integer number = Objects.requireNonNull(read(() -> {
            String last = settings.get(NUMBERS_KEY);
            return last == null ? 1 : Integer.parseInt(last) + 1;
        }));
        write(() -> settings.put(NUMBERS_KEY, number.toString()));
        return number;
    }

    /** {@return the row of a document, or -1} */
    public int row(int collection, String id) {
        Long row = read(() -> rows.get(key(collection, id)));
        return row == null ? -1 : row.intValue();
    }

    /** {@return a document, or null if the row has none} */
    public @Nullable StoredDocument document(int collection, int row) {
        byte[] bytes = read(() -> documents.get(key(collection, row)));
        return bytes == null ? null : document(key(collection, row), bytes, true);
    }

    /** {@return the vector of a document, or null if the row has none} */
    public float @Nullable [] vector(int collection, int row) {
        byte[] bytes = read(() -> vectors.get(key(collection, row)));
        return bytes == null ? null : vector(key(collection, row), bytes);
    }

    /**
     * Keeps a document, new or in place of the row's old one.
     *
     * @param collection the number of its collection
     * @param row its row
     * @param id its id
     * @param encoded the document, encoded
     * @param vector its vector
     */
    public void put(int collection, int row, String id, byte[] encoded, float[] vector) {
        Long key = key(collection, row);
        write(() -> {
            documents.put(key, CheckedBytes.of(key, encoded));
            vectors.put(key, CheckedBytes.of(key, bytes(vector)));
            rows.put(key(collection, id), (long) row);
        });
    }

    /** Removes a document. */
    public void remove(int collection, int row, String id) {
        write(() -> {
            rows.remove(key(collection, id));
            documents.remove(key(collection, row));
            vectors.remove(key(collection, row));
        });
    }

    /** Keeps the row that a change concerned. */
    public void changed(int collection, long change, int row) {
        write(() -> changes.put(key(collection, change), (long) row));
    }

    /** Calls a function with the row of each kept change after the given one. */
    public void forEachChangedRow(int collection, long after, LongConsumer row) {
        forEach(changes, key(collection, after + 1), key(collection + 1, 0), (change, changed) -> row.accept(changed));
    }

    /** Forgets the changes up to the given one. */
    public void forgetChanges(int collection, long upTo) {
        write(() -> removeRange(changes, key(collection, 0), key(collection, upTo + 1)));
    }

    /** {@return the number of a collection's documents} */
    public int documents(int collection) {
        Long number = read(() -> {
            while (true) {
                // Both places must be of one state of the map: other collections are changed meanwhile.
                RootReference<Long, byte[]> root = documents.getRoot();
                long count = place(key(collection + 1, 0)) - place(key(collection, 0));
                if (documents.getRoot() == root) {
                    return count;
                }
            }
        });
        return Math.toIntExact(Objects.requireNonNull(number));
    }

    /** {@return the number of documents with smaller keys} */
    private long place(long key) {
        long index = documents.getKeyIndex(key);
        return index < 0 ? -index - 1 : index;
    }

    /** Calls a function with each row of a collection and its document without the text, by row. */
    public void forEachDocument(int collection, BiConsumer<Integer, StoredDocument> document) {
        forEach(
                documents,
                key(collection, 0),
                key(collection + 1, 0),
                (key, bytes) -> document.accept(rowOf(key), document(key, bytes, false)));
    }

    /** Calls a function with each row of a collection and its vector, by row. */
    public void forEachVector(int collection, BiConsumer<Integer, float[]> vector) {
        forEach(
                vectors,
                key(collection, 0),
                key(collection + 1, 0),
                (key, bytes) -> vector.accept(rowOf(key), vector(key, bytes)));
    }

    /** Removes a collection with its documents. */
    public void drop(String name, int number) {
        write(() -> {
            collections.remove(name);
            removeRange(documents, key(number, 0), key(number + 1, 0));
            removeRange(vectors, key(number, 0), key(number + 1, 0));
            removeRange(changes, key(number, 0), key(number + 1, 0));
            removeRange(rows, key(number, ""), key(number + 1, ""));
        });
    }

    /** Writes all changes to the file, and a little more to compact it. The file survives a killed process from now on. */
    public void commit() {
        write(() -> {
            store.commit();
            if (compact()) {
                store.commit();
            }
        });
    }

    /** An interrupt, which would fail MVStore here, is kept for the caller: what was not compacted waits for the next commit. */
    private boolean compact() {
        boolean wasInterrupted = Thread.interrupted();
        try {
            return store.compact(FILL_PERCENT, COMPACTION_BYTES);
        } catch (RuntimeException failed) {
            if (!(failed.getCause() instanceof InterruptedException)) {
                throw failed;
            }
            wasInterrupted = true;
            return false;
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Makes what was committed survive a power loss. */
    public void sync() {
        write(store::sync);
    }

    /**
     * Writes the content of this file as an entry of an archive. No change may be made meanwhile.
     *
     * @param archive the archive
     * @throws IOException if it cannot be written
     */
    public void backup(ZipOutputStream archive) throws IOException {
        store.getFileStore().backup(archive);
    }

    @Override
    public void close() {
        if (store.isClosed()) {
            return;
        }
        write(() -> store.close(0));
    }

    /** {@return whether it is closed, by a failed write as well} */
    public boolean isClosed() {
        return store.isClosed();
    }

    /** Closes the file without writing: after a failed write, what it has on the disk is all that counts. */
    public void abandon() {
        store.closeImmediately();
    }

    private interface Reading<T> {
        @Nullable
        T read();
    }

    private <T> @Nullable T read(Reading<T> reading) {
        try {
            return reading.read();
        } catch (RuntimeException failed) {
            throw refused("read", failed);
        }
    }

    private void write(Runnable writing) {
        try {
            writing.run();
        } catch (RuntimeException failed) {
            throw refused("written", failed);
        }
    }

    private UncheckedIOException refused(String what, RuntimeException failed) {
        return unchecked(new IOException(path + " cannot be " + what + ": " + reason(failed), failed));
    }

    /**
     * {@return the failure for a document that is kept, but not found, or not the one that was looked for}
     *
     * @param collection the number of its collection
     * @param row its row
     * @param what what is wrong, for the message
     */
    public UncheckedIOException damaged(int collection, int row, String what) {
        return damaged(key(collection, row), "the document", new IOException(what));
    }

    private UncheckedIOException damaged(long key, String what, IOException damaged) {
        return damaged(what + " of row " + rowOf(key) + " in " + collectionOf(key), damaged);
    }

    private UncheckedIOException damaged(String what, IOException damaged) {
        return unchecked(new IOException(path + " is damaged: " + what + ": " + damaged.getMessage(), damaged));
    }

    private static UncheckedIOException unchecked(IOException named) {
        return new UncheckedIOException(named.getMessage(), named);
    }

    private String collectionOf(long key) {
        int number = (int) (key >> NUMBER_BITS);
        for (String name : collections()) {
            CollectionState state = collection(name);
            if (state != null && state.number() == number) {
                return "collection '" + name + "'";
            }
        }
        return "a collection of number " + number;
    }

    private StoredDocument document(long key, byte[] bytes, boolean withText) {
        try {
            return StoredDocument.decode(CheckedBytes.content(key, bytes), withText);
        } catch (IOException damaged) {
            throw damaged(key, "the document", damaged);
        }
    }

    private float[] vector(long key, byte[] bytes) {
        try {
            ByteBuffer content = CheckedBytes.content(key, bytes);
            float[] vector = new float[content.remaining() / Float.BYTES];
            content.asFloatBuffer().get(vector);
            return vector;
        } catch (IOException damaged) {
            throw damaged(key, "the vector", damaged);
        }
    }

    private <V> void forEach(MVMap<Long, V> map, long from, long end, BiConsumer<Long, V> each) {
        // Else commits of other collections free the space of pages that the cursor has yet to read.
        MVStore.TxCounter usage = store.registerVersionUsage();
        try {
            Cursor<Long, V> cursor = Objects.requireNonNull(read(() -> map.cursor(from, end - 1, false)));
            while (Boolean.TRUE.equals(read(cursor::hasNext))) {
                Long key = Objects.requireNonNull(read(cursor::next));
                each.accept(key, cursor.getValue());
            }
        } finally {
            store.deregisterVersionUsage(usage);
        }
    }

    private static <K extends Comparable<K>> void removeRange(MVMap<K, ?> map, K from, K end) {
        for (K key = map.ceilingKey(from); key != null && key.compareTo(end) < 0; key = map.higherKey(key)) {
            map.remove(key);
        }
    }

    private static long key(int collection, long number) {
        return (long) collection << NUMBER_BITS | number;
    }

    private static int rowOf(long key) {
        return (int) (key & (1L << NUMBER_BITS) - 1);
    }

    /** Of eight digits first, so that the ids of a collection are neighbors. */
    private static String key(int collection, String id) {
        return HexFormat.of().toHexDigits(collection) + id;
    }

    private static byte[] bytes(float[] vector) {
        ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES);
        bytes.asFloatBuffer().put(vector);
        return bytes.array();
    }
}
