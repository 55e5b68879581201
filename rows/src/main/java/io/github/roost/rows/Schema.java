package io.github.roost.rows;

import io.github.roost.vector.Vectors;
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
 * The columns of a row, and its layout: first the values of fixed length, in the order of the schema and without padding; then, for each column of
 * variable length, the end of its value; then these values. Numbers are little-endian; ends are 32-bit offsets from the first value of variable
 * length. Immutable.
 */
public final class Schema {
    /** The maximum number of columns. */
    public static final int MAX_COLUMNS = 1_024;
    /** The maximum size of a row, in bytes. */
    public static final int MAX_ROW_BYTES = 1 << 20;

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final List<Column> columns;
    /** For each column its offset in the row, or, for variable length, the index of its end. */
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
     * Creates a schema.
     *
     * @param columns from 1 to {@link #MAX_COLUMNS} columns with distinct names
     * @return the schema
     * @throws IllegalArgumentException if there are no columns or too many, two have the same name, or a row with empty values of variable length
     *     takes more than {@link #MAX_ROW_BYTES}
     */
    public static Schema of(Column... columns) {
        return of(List.of(columns));
    }

    /**
     * Creates a schema.
     *
     * @param columns from 1 to {@link #MAX_COLUMNS} columns with distinct names
     * @return the schema
     * @throws IllegalArgumentException as {@link #of(Column...)}
     */
    public static Schema of(List<Column> columns) {
        Vectors.requireRange("columns", columns.size(), 1, MAX_COLUMNS);
        Set<String> names = new HashSet<>();
        long min = 0;
        for (Column column : columns) {
            if (!names.add(column.name())) {
                throw new IllegalArgumentException("column " + column.name() + " must be there once, got it twice");
            }
            min += column.type().isVariable() ? Integer.BYTES : column.bytes();
        }
        Vectors.requireRange("bytes of a row with empty values", min, 1, MAX_ROW_BYTES);
        return new Schema(columns);
    }

    /**
     * The columns.
     *
     * @return an unmodifiable list, in the schema's order
     */
    public List<Column> columns() {
        return columns;
    }

    /**
     * The index of a column.
     *
     * @param name the column's name
     * @return its index, from 0
     * @throws IllegalArgumentException if no column has that name
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

    /** The offset of a column of fixed length, or the index of the end of a column of variable length. */
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

    /** Throws unless a column exists and has this type. */
    void require(int column, Column.Type type) {
        Vectors.requireRange("column", column, 0, places.length - 1);
        Column.Type actual = columns.get(column).type();
        if (actual != type) {
            throw new IllegalArgumentException(
                    "column " + columns.get(column).name() + " must be " + type + ", is " + actual);
        }
    }

    /** The begin of a value of variable length, as an offset from the first one. */
    int begin(MemorySegment in, long row, int variable) {
        return variable == 0 ? 0 : end(in, row, variable - 1);
    }

    int end(MemorySegment in, long row, int variable) {
        return in.get(INT, row + fixedBytes + (long) variable * Integer.BYTES);
    }

    /** The reason why bytes are not a valid row, or null if they are. */
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
     * Encodes the schema for {@link #decode}.
     *
     * @return the number of columns, then type, size and name of each column
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
     * Decodes a schema from {@link #encode}. All of it is validated.
     *
     * @param in the input; read up to the end of the schema
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
     * Creates a writer of rows of this schema.
     *
     * @return a writer for one thread at a time
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
