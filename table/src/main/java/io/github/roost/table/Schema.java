package io.github.roost.table;

import io.github.roost.core.Vectors;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a row, and where in its bytes each is: first the values of fixed length, in the order of the schema and with nothing
 * between them; then, for each column of variable length, where its value ends; then these values. Numbers are little-endian,
 * ends are 32-bit and count from the first value of variable length. Immutable.
 */
public final class Schema {
    /** The most columns. */
    public static final int MAX_COLUMNS = 1_024;
    /** The most bytes of a row. */
    public static final int MAX_ROW_BYTES = 1 << 20;

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final List<Column> columns;
    /** Of each column: its offset in the row, or which of the ends is its. */
    private final int[] places;

    private final int fixedBytes;
    private final int variables;

    private Schema(List<Column> columns) {
        this.columns = List.copyOf(columns);
        this.places = new int[columns.size()];
        int fixed = 0;
        int ends = 0;
        for (int i = 0; i < places.length; i++) {
            Column column = columns.get(i);
            places[i] = column.type().isVariable() ? ends++ : fixed;
            fixed += column.bytes();
        }
        this.fixedBytes = fixed;
        this.variables = ends;
    }

    /**
     * A schema.
     *
     * @param columns from 1 to {@link #MAX_COLUMNS}, each of another name
     * @return the schema
     * @throws IllegalArgumentException if there are no columns or too many, two have one name, or the fixed ones alone take more than
     *     {@link #MAX_ROW_BYTES}
     */
    public static Schema of(Column... columns) {
        return of(List.of(columns));
    }

    /**
     * A schema.
     *
     * @param columns from 1 to {@link #MAX_COLUMNS}, each of another name
     * @return the schema
     * @throws IllegalArgumentException as {@link #of(Column...)}
     */
    public static Schema of(List<Column> columns) {
        Vectors.requireRange("columns", columns.size(), 1, MAX_COLUMNS);
        Set<String> names = new HashSet<>();
        long least = 0;
        for (Column column : columns) {
            if (!names.add(column.name())) {
                throw new IllegalArgumentException("column " + column.name() + " must be there once, got it twice");
            }
            least += column.type().isVariable() ? Integer.BYTES : column.bytes();
        }
        Vectors.requireRange("bytes of a row with empty values", least, 1, MAX_ROW_BYTES);
        return new Schema(columns);
    }

    /**
     * The columns.
     *
     * @return in their order; not to be changed
     */
    public List<Column> columns() {
        return columns;
    }

    /**
     * Which column has a name.
     *
     * @param name of a column
     * @return its index, from 0
     * @throws IllegalArgumentException if none has that name
     */
    public int indexOf(String name) {
        for (int i = 0; i < places.length; i++) {
            if (columns.get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException(
                "column must be one of " + columns.stream().map(Column::name).toList() + ", got " + name);
    }

    /** Where a value of fixed length begins, or which of the ends is the column's. */
    int place(int column) {
        return places[column];
    }

    int fixedBytes() {
        return fixedBytes;
    }

    int variables() {
        return variables;
    }

    /** Bytes before the values of variable length. */
    int headBytes() {
        return fixedBytes + variables * Integer.BYTES;
    }

    /** Refuses a column that is not there or of another type. */
    void require(int column, Column.Type type) {
        Vectors.requireRange("column", column, 0, places.length - 1);
        Column.Type actual = columns.get(column).type();
        if (actual != type) {
            throw new IllegalArgumentException(
                    "column " + columns.get(column).name() + " must be " + type + ", is " + actual);
        }
    }

    /** Where the value of a variable column begins, from the first of them. */
    int begin(MemorySegment in, long row, int variable) {
        return variable == 0 ? 0 : end(in, row, variable - 1);
    }

    int end(MemorySegment in, long row, int variable) {
        return in.get(INT, row + fixedBytes + (long) variable * Integer.BYTES);
    }

    /** What is wrong with bytes that are to be a row, or null. */
    @Nullable
    String fault(MemorySegment in, long row, long bytes) {
        if (bytes > MAX_ROW_BYTES) {
            return "has a row of " + bytes + " bytes, more than " + MAX_ROW_BYTES;
        }
        if (bytes < headBytes()) {
            return "has a row of " + bytes + " bytes, less than the " + headBytes() + " of its schema";
        }
        int before = 0;
        for (int i = 0; i < variables; i++) {
            int end = end(in, row, i);
            if (end < before || end > bytes - headBytes()) {
                return "has a value that ends at " + end + ", not between " + before + " and " + (bytes - headBytes());
            }
            before = end;
        }
        return before == bytes - headBytes()
                ? null
                : "has a row whose values end at " + before + ", not at " + (bytes - headBytes());
    }

    /**
     * The schema as bytes, which {@link #decode} reads.
     *
     * @return a count, then type, length and name of each column
     */
    public byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeShort(places.length);
            for (Column column : columns) {
                byte[] name = column.name().getBytes(StandardCharsets.UTF_8);
                out.writeByte(column.type().ordinal());
                out.writeInt(column.bytes());
                out.writeByte(name.length);
                out.write(name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads what {@link #encode} wrote. Nothing in it is believed.
     *
     * @param in read as far as the schema goes
     * @return the schema
     * @throws IOException if these are not the bytes of a schema
     */
    public static Schema decode(InputStream in) throws IOException {
        DataInputStream data = new DataInputStream(in);
        int count = data.readUnsignedShort();
        List<Column> columns = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                int type = data.readUnsignedByte();
                int bytes = data.readInt();
                String name = new String(data.readNBytes(data.readUnsignedByte()), StandardCharsets.UTF_8);
                if (type >= Column.Type.values().length) {
                    throw new IOException("column " + name + " is of the unknown type " + type);
                }
                columns.add(new Column(name, Column.Type.values()[type], bytes));
            }
            return of(columns);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /**
     * A writer of rows of this schema.
     *
     * @return for one thread at a time
     */
    public RowWriter writer() {
        return new RowWriter(this);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Schema schema && columns.equals(schema.columns);
    }

    @Override
    public int hashCode() {
        return columns.hashCode();
    }

    @Override
    public String toString() {
        return columns.toString();
    }
}
