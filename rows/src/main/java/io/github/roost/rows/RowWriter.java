package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;
import static io.github.roost.rows.Schema.LONG;

import io.github.roost.vector.Vectors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Builds a row, column by column. Columns that are not set are 0 or empty. Reusable; for one thread at a time.
 */
public final class RowWriter {
    private static final byte[] EMPTY = {};

    private final Schema schema;
    private final byte[][] values;
    private byte[] row;
    private MemorySegment memory;

    RowWriter(Schema schema) {
        this.schema = schema;
        this.values = new byte[schema.variables()][];
        this.row = new byte[schema.headBytes()];
        this.memory = MemorySegment.ofArray(row);
        clear();
    }

    /**
     * Sets all columns to 0 or empty.
     *
     * @return this
     */
    public RowWriter clear() {
        Arrays.fill(row, 0, schema.headBytes(), (byte) 0);
        Arrays.fill(values, EMPTY);
        return this;
    }

    /**
     * Sets a 32-bit integer.
     *
     * @param column its index
     * @param value any value
     * @return this
     * @throws IllegalArgumentException if there is no such column, or it has another type
     */
    public RowWriter setInt(int column, int value) {
        memory.set(INT, place(column, Column.Type.INT), value);
        return this;
    }

    /**
     * Sets a 64-bit integer.
     *
     * @param column its index
     * @param value any value
     * @return this
     * @throws IllegalArgumentException if there is no such column, or it has another type
     */
    public RowWriter setLong(int column, long value) {
        memory.set(LONG, place(column, Column.Type.LONG), value);
        return this;
    }

    /**
     * Sets a 32-bit floating-point number; its bits are kept as they are.
     *
     * @param column its index
     * @param value any value, including NaN
     * @return this
     * @throws IllegalArgumentException if there is no such column, or it has another type
     */
    public RowWriter setFloat(int column, float value) {
        memory.set(INT, place(column, Column.Type.FLOAT), Float.floatToRawIntBits(value));
        return this;
    }

    /**
     * Sets a 64-bit floating-point number; its bits are kept as they are.
     *
     * @param column its index
     * @param value any value, including NaN
     * @return this
     * @throws IllegalArgumentException if there is no such column, or it has another type
     */
    public RowWriter setDouble(int column, double value) {
        memory.set(LONG, place(column, Column.Type.DOUBLE), Double.doubleToRawLongBits(value));
        return this;
    }

    Schema schema() {
        return schema;
    }

    private int place(int column, Column.Type type) {
        schema.require(column, type);
        return schema.place(column);
    }

    /**
     * Sets a byte string, of fixed or variable length.
     *
     * @param column its index
     * @param value the bytes; must not change until the row is put
     * @return this
     * @throws IllegalArgumentException if there is no such column, it has another type, or its values have another length
     */
    public RowWriter setBytes(int column, byte[] value) {
        Vectors.requireRange("column", column, 0, schema.columns().size() - 1L);
        Column of = schema.columns().get(column);
        if (of.type() == Column.Type.BYTES) {
            values[schema.place(column)] = value;
            return this;
        }
        schema.require(column, Column.Type.FIXED_BYTES);
        if (value.length != of.bytes()) {
            throw new IllegalArgumentException(
                    "a value of column " + of.name() + " must have " + of.bytes() + " bytes, got " + value.length);
        }
        MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, schema.place(column), value.length);
        return this;
    }

    /**
     * Sets a text.
     *
     * @param column its index
     * @param value any text; stored as UTF-8
     * @return this
     * @throws IllegalArgumentException if there is no such column, or it has another type
     */
    public RowWriter setText(int column, String value) {
        values[place(column, Column.Type.TEXT)] = value.getBytes(StandardCharsets.UTF_8);
        return this;
    }

    /**
     * The row as it is set now.
     *
     * @return its bytes, in the layout of {@link Schema}; valid until the next call of any method
     * @throws IllegalArgumentException if it has more than {@link Schema#MAX_ROW_BYTES} bytes
     */
    public MemorySegment row() {
        long bytes = schema.headBytes();
        for (byte[] value : values) {
            bytes += value.length;
        }
        Vectors.requireRange("bytes of a row", bytes, 1, Schema.MAX_ROW_BYTES);
        if (bytes > row.length) {
            row = Arrays.copyOf(row, (int) Math.min(Schema.MAX_ROW_BYTES, 2 * bytes));
            memory = MemorySegment.ofArray(row);
        }
        int at = schema.headBytes();
        for (int i = 0; i < values.length; i++) {
            System.arraycopy(values[i], 0, row, at, values[i].length);
            at += values[i].length;
            memory.set(INT, schema.fixedBytes() + (long) i * Integer.BYTES, at - schema.headBytes());
        }
        return memory.asSlice(0, bytes);
    }
}
