package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;
import static io.github.roost.rows.Schema.LONG;

import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a batch of keys, all of one version, in one block of memory: the end of each row as a 32-bit offset from the first row, then the rows,
 * in the order of the keys. An absent row takes no bytes. There is no object per row: values are read by the index of the key and of the column.
 * Numbers are little-endian. Reusable; for one thread at a time.
 *
 * <p>A row that could not be read from its file fails separately: {@link #failure} returns the reason, and methods that access the row, even {@link
 * #isPresent}, throw it. So a failed row is never mistaken for an absent one. {@link #memory} and {@link #writeTo} throw it, too: an incomplete batch
 * is not passed on.
 */
public final class RowBatch {
    /** The maximum total size of the rows of a batch, in bytes. */
    public static final long MAX_BYTES = 1L << 30;

    private static final long MAX_ARRAY_BYTES = Integer.MAX_VALUE - Long.BYTES;
    private static final int PIECE_BYTES = 1 << 16;

    /** Whether memory is reallocated if it is too small. */
    private final boolean grows;

    private MemorySegment memory;
    private long maxBytes = MAX_ARRAY_BYTES;
    private int size;
    private int present;
    private long version;
    private @Nullable Schema schema;
    /** By index of the key; null if all rows could be read. */
    private @Nullable ColdReadException @Nullable [] failures;

    private RowBatch(MemorySegment memory, boolean grows) {
        this.memory = memory;
        this.grows = grows;
    }

    /**
     * Creates a batch on the heap, which grows as needed.
     *
     * @return an empty batch
     */
    public static RowBatch onHeap() {
        return new RowBatch(MemorySegment.ofArray(new byte[0]), true);
    }

    /**
     * Creates a batch in the caller's memory.
     *
     * @param buffer writable memory; n keys need room for n ends of 4 bytes and their rows, otherwise filling fails
     * @return an empty batch
     * @throws IllegalArgumentException if the buffer is read-only
     */
    public static RowBatch in(MemorySegment buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("buffer must be writable, is read-only");
        }
        return new RowBatch(buffer, false);
    }

    /**
     * Creates a batch from the bytes that {@link #memory} returned elsewhere, for example in another process. All of it is validated.
     *
     * @param schema the schema of the rows
     * @param version the version of the rows
     * @param size the number of keys of the batch
     * @param bytes the batch's bytes; the batch uses them without a copy
     * @return the batch
     * @throws IllegalArgumentException if the bytes are not a batch of {@code size} rows of this schema
     */
    public static RowBatch of(Schema schema, long version, int size, MemorySegment bytes) {
        Vectors.requireRange("size", size, 0, bytes.byteSize() / Integer.BYTES);
        RowBatch batch = new RowBatch(bytes, false);
        batch.begin(schema, version, size);
        int before = 0;
        for (int i = 0; i < size; i++) {
            int end = batch.end(i);
            long max = bytes.byteSize() - batch.firstRow();
            Vectors.requireRange("end of row " + i, end, before, max);
            if (end > before) {
                String fault = schema.fault(bytes, batch.firstRow() + before, end - before);
                if (fault != null) {
                    throw new IllegalArgumentException("row " + i + " " + fault);
                }
                batch.present++;
            }
            before = end;
        }
        Vectors.requireRange("bytes", bytes.byteSize(), batch.firstRow() + before, batch.firstRow() + before);
        return batch;
    }

    /**
     * Limits the size of the batch. Later fills beyond it throw a {@link TooLargeException} before they allocate memory.
     *
     * @param bytes the maximum size of the ends and the rows together, 0 or more
     * @throws IllegalArgumentException if {@code bytes} is negative
     */
    public void limitTo(long bytes) {
        Vectors.requireRange("bytes", bytes, 0, Long.MAX_VALUE);
        maxBytes = Math.min(bytes, MAX_ARRAY_BYTES);
    }

    /** The maximum size of the ends and the rows together. */
    long maxBytes() {
        return maxBytes;
    }

    /** Resets the batch to a number of rows of a schema. */
    void begin(Schema newSchema, long newVersion, int newSize) {
        this.schema = newSchema;
        this.version = newVersion;
        this.size = newSize;
        this.present = 0;
        this.failures = null;
    }

    /** Makes room for the rows of {@code keys} keys, or throws before anything has changed. */
    void reserve(int keys, long rowBytes) {
        long needed = (long) keys * Integer.BYTES + rowBytes;
        if (rowBytes > MAX_BYTES) {
            throw new TooLargeException(rowBytes, MAX_BYTES);
        }
        if (needed > maxBytes) {
            throw new TooLargeException(needed, maxBytes);
        }
        if (needed <= memory.byteSize()) {
            return;
        }
        if (!grows) {
            throw new IllegalArgumentException(
                    "buffer must have " + needed + " bytes for these rows, got " + memory.byteSize());
        }
        memory = MemorySegment.ofArray(new byte[(int) needed]);
    }

    /**
     * Fills the batch with columns of rows in one block of memory.
     *
     * @param at the offset of each row in it; negative for an absent row
     * @param bytes the length of each row
     * @return the number of rows present
     */
    int fill(Projection projection, long of, MemorySegment from, long[] at, int[] bytes) {
        long sum = 0;
        for (int i = 0; i < at.length; i++) {
            sum += at[i] < 0 ? 0 : projection.bytes(from, at[i], bytes[i]);
        }
        reserve(at.length, sum);
        begin(projection.schema(), of, at.length);
        long first = firstRow();
        long end = first;
        for (int i = 0; i < at.length; i++) {
            if (at[i] >= 0) {
                end = projection.copy(from, at[i], bytes[i], memory, end);
            }
            setEnd(i, end - first, at[i] >= 0);
        }
        return present;
    }

    /** Sets the failures of a batch that was just filled, by index of the key; null for none. */
    void failed(@Nullable ColdReadException @Nullable [] byKey) {
        failures = byKey;
    }

    /** Writes the end of row i; to be called in the order of the rows. */
    void setEnd(int i, long end, boolean isPresent) {
        memory.set(INT, (long) i * Integer.BYTES, (int) end);
        present += isPresent ? 1 : 0;
    }

    /** Makes rows absent that are present. */
    void remove(BitSet gone) {
        int begin = 0;
        int kept = 0;
        for (int i = 0; i < size; i++) {
            int end = end(i);
            if (!gone.get(i)) {
                MemorySegment.copy(memory, firstRow() + begin, memory, firstRow() + kept, (long) end - begin);
                kept += end - begin;
            }
            begin = end;
            memory.set(INT, (long) i * Integer.BYTES, kept);
        }
        present -= gone.cardinality();
    }

    /** The bytes of a row. */
    MemorySegment rowBytes(int i) {
        requireRead(i);
        int begin = i == 0 ? 0 : end(i - 1);
        return memory.asSlice(firstRow() + begin, end(i) - begin);
    }

    MemorySegment room() {
        return memory;
    }

    long firstRow() {
        return (long) size * Integer.BYTES;
    }

    private int end(int i) {
        return memory.get(INT, (long) i * Integer.BYTES);
    }

    /**
     * The number of keys.
     *
     * @return 0 or more
     */
    public int size() {
        return size;
    }

    /**
     * The number of keys that have a row.
     *
     * @return from 0 to {@link #size}, without rows that could not be read
     */
    public int present() {
        return present;
    }

    /**
     * The number of rows that could not be read.
     *
     * @return from 0 to {@link #size}; always 0 if all values are in memory
     */
    public int failures() {
        return failures == null
                ? 0
                : (int) Arrays.stream(failures).filter(Objects::nonNull).count();
    }

    /**
     * The reason why a row could not be read.
     *
     * @param i the index of the key, from 0
     * @return the exception that accessing the row throws, or null if the row was read, or is absent
     * @throws IllegalArgumentException if there is no key {@code i}
     */
    public @Nullable ColdReadException failure(int i) {
        Vectors.requireRange("i", i, 0, size - 1L);
        return failures == null ? null : failures[i];
    }

    private void requireRead(int i) {
        ColdReadException failure = failure(i);
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * The version of all rows.
     *
     * @return the version; 0 before the batch was filled
     */
    public long version() {
        return version;
    }

    /**
     * The requested columns.
     *
     * @return columns 0, 1, ... of the rows
     * @throws IllegalStateException if the batch has not been filled
     */
    public Schema schema() {
        Schema filled = schema;
        if (filled == null) {
            throw new IllegalStateException("the batch has not been filled");
        }
        return filled;
    }

    /**
     * The batch's bytes: the ends, then the rows.
     *
     * @return a view, valid until the batch is filled again; on the heap or in the caller's buffer
     * @throws ColdReadException if a row could not be read
     */
    public MemorySegment memory() {
        if (failures != null) {
            for (int i = 0; i < size; i++) {
                requireRead(i);
            }
        }
        return memory.asSlice(0, size == 0 ? 0 : firstRow() + end(size - 1));
    }

    /**
     * Writes the batch's bytes.
     *
     * @param out receives the bytes of {@link #memory}
     * @throws IOException if {@code out} throws it
     * @throws ColdReadException if a row could not be read; nothing is written
     */
    public void writeTo(OutputStream out) throws IOException {
        MemorySegment whole = memory();
        ByteBuffer bytes = whole.asByteBuffer();
        if (bytes.hasArray()) {
            out.write(bytes.array(), bytes.arrayOffset(), bytes.capacity());
        } else {
            byte[] piece = new byte[(int) Math.min(PIECE_BYTES, whole.byteSize())];
            for (long at = 0; at < whole.byteSize(); at += piece.length) {
                int count = (int) Math.min(piece.length, whole.byteSize() - at);
                bytes.get((int) at, piece, 0, count);
                out.write(piece, 0, count);
            }
        }
    }

    /**
     * Whether a key has a row.
     *
     * @param i the index of the key, from 0
     * @return whether it has a row
     * @throws IllegalArgumentException if there is no key {@code i}
     * @throws ColdReadException if its row could not be read
     */
    public boolean isPresent(int i) {
        requireRead(i);
        return end(i) > begin(i);
    }

    private int begin(int i) {
        return i == 0 ? 0 : end(i - 1);
    }

    private long row(int i) {
        if (!isPresent(i)) {
            throw new IllegalArgumentException("key " + i + " must be present to be read, is not");
        }
        return firstRow() + begin(i);
    }

    private long at(int i, int column, Column.Type type) {
        schema().require(column, type);
        return row(i) + schema().place(column);
    }

    /**
     * A 32-bit integer.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return its value
     * @throws IllegalArgumentException if there is no such key or column, the key is absent, or the column has another type
     * @throws ColdReadException if the row could not be read
     */
    public int getInt(int i, int column) {
        return memory.get(INT, at(i, column, Column.Type.INT));
    }

    /**
     * A 64-bit integer.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public long getLong(int i, int column) {
        return memory.get(LONG, at(i, column, Column.Type.LONG));
    }

    /**
     * A 32-bit floating-point number.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public float getFloat(int i, int column) {
        return Float.intBitsToFloat(memory.get(INT, at(i, column, Column.Type.FLOAT)));
    }

    /**
     * A 64-bit floating-point number.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public double getDouble(int i, int column) {
        return Double.longBitsToDouble(memory.get(LONG, at(i, column, Column.Type.DOUBLE)));
    }

    /**
     * A byte string, or a text as UTF-8, without a copy.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return a view of this batch's memory, valid until it is filled again
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public MemorySegment getBytes(int i, int column) {
        Schema of = schema();
        Vectors.requireRange("column", column, 0, of.columns().size() - 1L);
        Column requested = of.columns().get(column);
        if (requested.type() == Column.Type.FIXED_BYTES) {
            return memory.asSlice(row(i) + of.place(column), requested.bytes());
        }
        if (!requested.type().isVariable()) {
            of.require(column, Column.Type.BYTES);
        }
        long row = row(i);
        int begin = of.begin(memory, row, of.place(column));
        int end = of.end(memory, row, of.place(column));
        return memory.asSlice(row + of.headBytes() + begin, (long) end - begin);
    }

    /**
     * A text.
     *
     * @param i the index of the key, from 0
     * @param column the index of the requested column, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public String getText(int i, int column) {
        schema().require(column, Column.Type.TEXT);
        return new String(getBytes(i, column).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Thrown if the rows of a batch would take more memory than its limit. The message names both sizes; the batch is unchanged. */
    public static final class TooLargeException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        /** The size of the rows. */
        private final long bytes;

        TooLargeException(long bytes, long maxBytes) {
            super("the rows of a batch must have " + maxBytes + " bytes at most, got " + bytes);
            this.bytes = bytes;
        }

        /**
         * The size of the rows.
         *
         * @return bytes, more than the maximum; if rows are read from a file, at least so many
         */
        public long bytes() {
            return bytes;
        }
    }

    /**
     * Thrown if a row could not be read from its version's file: the device failed, or the file was damaged after it was loaded. The message names the
     * key, the version, the file and the fault. The failure changes nothing: the batch's other rows are read, and the row can be requested again.
     */
    public static final class ColdReadException extends UncheckedIOException {
        private static final long serialVersionUID = 1;

        /** The key of the row. */
        private final long key;

        /** The version that was read. */
        private final long version;

        ColdReadException(long key, long version, IOException cause) {
            super("the row of key " + key + " of version " + version + " cannot be read: " + cause.getMessage(), cause);
            this.key = key;
            this.version = version;
        }

        /** {@return the key whose row could not be read} */
        public long key() {
            return key;
        }

        /** {@return the version that was read} */
        public long version() {
            return version;
        }
    }
}
