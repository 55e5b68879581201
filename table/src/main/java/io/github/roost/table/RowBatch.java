package io.github.roost.table;

import static io.github.roost.table.Schema.INT;
import static io.github.roost.table.Schema.LONG;

import io.github.roost.core.Vectors;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rows of many keys, all of one version, in one piece of memory: where each row ends, as 32-bit numbers that count from the first one,
 * then the rows, in the order of the keys. The row of a key that is not there takes no bytes. There is no object per row:
 * values are read by the number of the key and of the column. Numbers are little-endian. For one thread at a time; to be
 * used again and again.
 *
 * <p>A row that could not be read from its file fails alone: {@link #failure} tells why, and whatever asks for it, {@link #isPresent} too, throws that. So
 * who does not look for failures never takes such a row for one that is not there. As memory, such a batch cannot be had: what goes elsewhere is whole.
 */
public final class RowBatch {
    /** The most bytes that the rows of a batch have together. */
    public static final long MAX_BYTES = 1L << 30;

    private static final long MAX_ARRAY_BYTES = Integer.MAX_VALUE - Long.BYTES;
    private static final int PIECE_BYTES = 1 << 16;

    /** Whether memory that is too small is replaced. */
    private final boolean grows;

    private MemorySegment memory;
    private long mostBytes = MAX_ARRAY_BYTES;
    private int size;
    private int present;
    private long version;
    private @Nullable Schema schema;
    /** By key; null where all rows could be read. */
    private @Nullable ColdReadException @Nullable [] failures;

    private RowBatch(MemorySegment memory, boolean grows) {
        this.memory = memory;
        this.grows = grows;
    }

    /**
     * A batch that has its memory on the heap, and takes as much as it needs.
     *
     * @return an empty batch
     */
    public static RowBatch onHeap() {
        return new RowBatch(MemorySegment.ofArray(new byte[0]), true);
    }

    /**
     * A batch in memory of the caller's.
     *
     * @param buffer writable; for n keys it has room for n ends of 4 bytes and their rows, or these are refused
     * @return an empty batch
     * @throws IllegalArgumentException if the buffer cannot be written
     */
    public static RowBatch in(MemorySegment buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("buffer must be writable, is read-only");
        }
        return new RowBatch(buffer, false);
    }

    /**
     * A batch that somebody else has filled: what {@link #memory} returned there. Nothing in it is believed.
     *
     * @param schema of the rows
     * @param version that they are of
     * @param size how many keys were asked for
     * @param bytes of the batch, referred to from now on
     * @return the batch
     * @throws IllegalArgumentException if the bytes are not those of a batch of so many rows of this schema
     */
    public static RowBatch of(Schema schema, long version, int size, MemorySegment bytes) {
        Vectors.requireRange("size", size, 0, bytes.byteSize() / Integer.BYTES);
        RowBatch batch = new RowBatch(bytes, false);
        batch.begin(schema, version, size);
        int before = 0;
        for (int i = 0; i < size; i++) {
            int end = batch.end(i);
            long most = bytes.byteSize() - batch.firstRow();
            Vectors.requireRange("end of row " + i, end, before, most);
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
     * From now on the batch is not filled with more: that is refused with a {@link BatchTooLargeException}, before memory is taken for it.
     *
     * @param bytes of the ends and the rows together, 0 or more
     * @throws IllegalArgumentException if that is negative
     */
    public void limitTo(long bytes) {
        Vectors.requireRange("bytes", bytes, 0, Long.MAX_VALUE);
        mostBytes = Math.min(bytes, MAX_ARRAY_BYTES);
    }

    /** Begins anew: so many rows of a schema. */
    void begin(Schema newSchema, long newVersion, int newSize) {
        this.schema = newSchema;
        this.version = newVersion;
        this.size = newSize;
        this.present = 0;
        this.failures = null;
    }

    /** Makes room for the rows of so many keys, before anything is changed. */
    void reserve(int keys, long rowBytes) {
        long needed = (long) keys * Integer.BYTES + rowBytes;
        if (rowBytes > MAX_BYTES) {
            throw new BatchTooLargeException(rowBytes, MAX_BYTES);
        }
        if (needed > mostBytes) {
            throw new BatchTooLargeException(needed, mostBytes);
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
     * Fills the batch with columns of rows that lie in one piece of memory.
     *
     * @param at where each row begins there; negative for none
     * @param bytes of each row
     * @return how many rows there are
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

    /** Says which rows of a batch that was just filled could not be read, by key; null for none. */
    void failed(@Nullable ColdReadException @Nullable [] byKey) {
        failures = byKey;
    }

    /** Writes where row i ends; rows in their order. */
    void setEnd(int i, long end, boolean isPresent) {
        memory.set(INT, (long) i * Integer.BYTES, (int) end);
        present += isPresent ? 1 : 0;
    }

    /** The bytes of a row that is there. */
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
     * How many keys were asked for.
     *
     * @return 0 or more
     */
    public int size() {
        return size;
    }

    /**
     * How many of them are there.
     *
     * @return from 0 to {@link #size}; those that could not be read do not count
     */
    public int present() {
        return present;
    }

    /**
     * How many of them could not be read.
     *
     * @return from 0 to {@link #size}; 0 unless some rows are cold
     */
    public int failures() {
        return failures == null
                ? 0
                : (int) Arrays.stream(failures).filter(Objects::nonNull).count();
    }

    /**
     * Why a row could not be read.
     *
     * @param i which of the keys, from 0
     * @return what whoever asks for the row is thrown, or null if it was read, or is not there
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
     * The version that all rows are of.
     *
     * @return the version; 0 before the batch was filled
     */
    public long version() {
        return version;
    }

    /**
     * The columns that were asked for.
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
     * The batch as it lies in memory: the ends, then the rows.
     *
     * @return until the batch is filled again; on the heap or in the caller's buffer
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
     * Writes the batch as it lies in memory.
     *
     * @param out is given {@link #memory}
     * @throws IOException if {@code out} cannot take it
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
     * Whether a key is there.
     *
     * @param i which of the keys, from 0
     * @return whether it has a row
     * @throws IllegalArgumentException if there is no key {@code i}
     * @throws ColdReadException if it has one that could not be read
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
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
     * @return its value
     * @throws IllegalArgumentException if there is no such key or column, the key is not present, or the column's type is another
     * @throws ColdReadException if the row could not be read
     */
    public int getInt(int i, int column) {
        return memory.get(INT, at(i, column, Column.Type.INT));
    }

    /**
     * A 64-bit integer.
     *
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
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
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
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
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public double getDouble(int i, int column) {
        return Double.longBitsToDouble(memory.get(LONG, at(i, column, Column.Type.DOUBLE)));
    }

    /**
     * Bytes or a text, as UTF-8, where they lie.
     *
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
     * @return a part of this batch's memory, until it is filled again
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public MemorySegment getBytes(int i, int column) {
        Schema of = schema();
        Vectors.requireRange("column", column, 0, of.columns().size() - 1L);
        Column asked = of.columns().get(column);
        if (asked.type() == Column.Type.FIXED_BYTES) {
            return memory.asSlice(row(i) + of.place(column), asked.bytes());
        }
        if (!asked.type().isVariable()) {
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
     * @param i which of the keys, from 0
     * @param column which of the columns asked for, from 0
     * @return its value
     * @throws IllegalArgumentException as {@link #getInt}
     * @throws ColdReadException as {@link #getInt}
     */
    public String getText(int i, int column) {
        schema().require(column, Column.Type.TEXT);
        return new String(getBytes(i, column).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
