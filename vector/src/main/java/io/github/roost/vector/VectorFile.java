package io.github.roost.vector;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Objects;

/**
 * A file of vectors, mapped into memory: {@code fvecs} and {@code bvecs} of the TEXMEX corpora (each row a 32-bit dimension, then its
 * floats or unsigned bytes), {@code fbin}, {@code u8bin}, {@code i8bin} and {@code f16bin} of big-ann-benchmarks (32-bit numbers of rows
 * and of dimensions, then rows of floats, unsigned bytes, signed bytes or binary16 numbers). All numbers are little-endian. The extension
 * of the file's name gives the format.
 *
 * <p>Opening checks the header against the file's length; reading a row checks its dimension. The file must not be truncated while it is
 * open. Thread-safe; reading a closed file throws {@link IllegalStateException}.
 */
public final class VectorFile implements VectorSource, AutoCloseable {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_ROWS = Integer.MAX_VALUE - 8;

    /** How components are stored, and where rows begin. */
    private enum Format {
        FVECS(Float.BYTES, true),
        BVECS(Byte.BYTES, true),
        FBIN(Float.BYTES, false),
        U8BIN(Byte.BYTES, false),
        I8BIN(Byte.BYTES, false),
        F16BIN(Short.BYTES, false);

        /** Bytes per component. */
        private final int bytes;
        /** Whether each row begins with its dimension; otherwise the file begins with its numbers of rows and dimensions. */
        private final boolean widthPerRow;

        Format(int bytes, boolean widthPerRow) {
            this.bytes = bytes;
            this.widthPerRow = widthPerRow;
        }

        static Format of(Path file) throws FileFormatException {
            String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
            for (Format format : values()) {
                if (name.endsWith("." + format.name().toLowerCase(Locale.ROOT))) {
                    return format;
                }
            }
            throw new FileFormatException(
                    file, "must end in .fvecs, .bvecs, .fbin, .u8bin, .i8bin or .f16bin to be read as vectors");
        }

        long headBytes() {
            return widthPerRow ? 0 : 2L * Integer.BYTES;
        }

        long rowBytes(long dimension) {
            return (widthPerRow ? Integer.BYTES : 0) + dimension * bytes;
        }
    }

    private final Path file;
    private final Format format;
    private final Arena arena;
    private final MemorySegment memory;
    private final int rows;
    private final int dimension;

    private VectorFile(Path file, Format format, Arena arena, MemorySegment memory) throws FileFormatException {
        this.file = file;
        this.format = format;
        this.arena = arena;
        this.memory = memory;
        long bytes = memory.byteSize();
        if (bytes == 0) {
            throw new FileFormatException(file, "is empty");
        }
        if (bytes < Math.max(Integer.BYTES, format.headBytes())) {
            throw new FileFormatException(file, "is truncated: " + bytes + " bytes are less than a header");
        }
        this.dimension = memory.get(INT, format.widthPerRow ? 0 : Integer.BYTES);
        if (dimension < 1 || dimension > Vectors.MAX_DIMENSIONS) {
            throw new FileFormatException(
                    file, "has vectors of %,d dimensions: there must be 1 to 4,096".formatted(dimension));
        }
        long rowBytes = format.rowBytes(dimension);
        long whole = (bytes - format.headBytes()) / rowBytes;
        long said = format.widthPerRow ? whole : Integer.toUnsignedLong(memory.get(INT, 0));
        if (said == 0 && bytes == format.headBytes()) {
            throw new FileFormatException(file, "has 0 rows: there must be at least one");
        }
        if (said == 0 || said > MAX_ROWS || format.headBytes() + said * rowBytes != bytes) {
            throw new FileFormatException(
                    file,
                    "is truncated or has a wrong header: %,d bytes are not %,d rows of %,d dimensions, %,d bytes each"
                            .formatted(bytes, said, dimension, rowBytes));
        }
        this.rows = (int) said;
    }

    /**
     * Opens a file.
     *
     * @param file a file whose extension is one of the formats
     * @return the open file, to be closed by the caller
     * @throws FileFormatException if it is not a valid file of a known format; the message names the fault
     */
    public static VectorFile open(Path file) throws IOException {
        Format format = Format.of(file);
        if (!Files.isRegularFile(file)) {
            throw new FileFormatException(file, Files.exists(file) ? "is not a regular file" : "does not exist");
        }
        Arena arena = Arena.ofShared();
        boolean opened = false;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            VectorFile vectors = new VectorFile(file, format, arena, memory);
            opened = true;
            return vectors;
        } finally {
            if (!opened) {
                arena.close();
            }
        }
    }

    @Override
    public int size() {
        return rows;
    }

    @Override
    public int dimension() {
        return dimension;
    }

    /**
     * {@inheritDoc}
     *
     * @throws UncheckedIOException with a {@link FileFormatException} as its cause if the row has another dimension than row 0
     */
    @Override
    public void read(int row, float[] into) {
        Objects.checkIndex(row, rows);
        if (into.length != dimension) {
            throw new IllegalArgumentException("the array must have " + dimension + " components, got " + into.length);
        }
        long at = format.headBytes() + row * format.rowBytes(dimension);
        if (format.widthPerRow) {
            requireWidth(row, memory.get(INT, at));
            at += Integer.BYTES;
        }
        switch (format) {
            case FVECS, FBIN -> MemorySegment.copy(memory, FLOAT, at, into, 0, dimension);
            case BVECS, U8BIN -> {
                for (int d = 0; d < dimension; d++) {
                    into[d] = Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, at + d));
                }
            }
            case I8BIN -> {
                for (int d = 0; d < dimension; d++) {
                    into[d] = memory.get(ValueLayout.JAVA_BYTE, at + d);
                }
            }
            case F16BIN -> {
                for (int d = 0; d < dimension; d++) {
                    into[d] = Float.float16ToFloat(memory.get(SHORT, at + (long) d * Short.BYTES));
                }
            }
        }
    }

    private void requireWidth(int row, int width) {
        if (width != dimension) {
            throw new UncheckedIOException(new FileFormatException(
                    file, "has a row " + row + " of width " + width + ", but row 0 has " + dimension));
        }
    }

    /** Unmaps the file. A row that another thread is reading may delay it. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
