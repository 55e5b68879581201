package io.github.roost.bench;

import io.github.roost.vector.FileFormatException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.IntFunction;

/**
 * The layout that fvecs and ivecs files share: rows of one width, each a little-endian 32-bit width followed by that
 * many 32-bit values. Sizes read from the file are checked against its length before use.
 */
final class RowFile {
    private static final int BUFFER_BYTES = 1 << 20;

    private RowFile() {}

    /** Reads the {@code width} values of one row from the buffer's position on. */
    interface RowReader {
        void read(int row, ByteBuffer values) throws IOException;
    }

    /**
     * Reads a file row by row.
     *
     * @param reader called with the number of rows and their width before the first row; returns the reader of the rows
     */
    static void read(Path file, ShapeReader reader) throws IOException {
        checkReadable(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long bytes = channel.size();
            if (bytes == 0) {
                throw new FileFormatException(file, "is empty: it must hold at least one row");
            }
            if (bytes < Integer.BYTES) {
                throw new FileFormatException(file, "is truncated: " + bytes + " bytes are less than a row's width");
            }
            int width = firstWidth(file, channel);
            long rowBytes = Integer.BYTES + (long) Integer.BYTES * width;
            if (width < 1 || rowBytes > bytes) {
                throw new FileFormatException(
                        file,
                        "has a row 0 of width " + width + ", which must be between 1 and " + (bytes / Integer.BYTES - 1)
                                + " in a file of " + bytes + " bytes");
            }
            if (bytes / rowBytes > Integer.MAX_VALUE - 8) {
                throw new FileFormatException(file, "has " + bytes / rowBytes + " rows, more than 2,147,483,639");
            }
            readRows(file, channel, width, bytes, reader);
        }
    }

    /** Receives the shape of a file before its rows are read. */
    interface ShapeReader {
        RowReader shape(int rows, int width) throws IOException;
    }

    private static void checkReadable(Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new FileFormatException(file, "does not exist");
        }
        if (Files.isDirectory(file)) {
            throw new FileFormatException(file, "is a directory, not a file");
        }
        if (!Files.isRegularFile(file)) {
            throw new FileFormatException(file, "is not a regular file");
        }
        if (!Files.isReadable(file)) {
            throw new FileFormatException(file, "is not readable");
        }
    }

    private static int firstWidth(Path file, FileChannel channel) throws IOException {
        ByteBuffer width = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        fill(file, channel, width, 0);
        return width.getInt(0);
    }

    private static void readRows(Path file, FileChannel channel, int width, long bytes, ShapeReader reader)
            throws IOException {
        int rowBytes = Math.toIntExact(Integer.BYTES + (long) Integer.BYTES * width);
        int rows = (int) (bytes / rowBytes);
        RowReader rowReader = null;
        ByteBuffer buffer = ByteBuffer.allocateDirect(Math.max(1, BUFFER_BYTES / rowBytes) * rowBytes)
                .order(ByteOrder.LITTLE_ENDIAN);
        long position = 0;
        for (int row = 0; row < rows; ) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), (rows - (long) row) * rowBytes));
            fill(file, channel, buffer, position);
            position += buffer.limit();
            for (; buffer.hasRemaining(); row++) {
                checkWidth(file, row, buffer.getInt(), width);
                if (rowReader == null) {
                    rowReader = reader.shape(rows, width);
                }
                int next = buffer.position() + rowBytes - Integer.BYTES;
                rowReader.read(row, buffer);
                buffer.position(next);
            }
        }
        if (bytes % rowBytes != 0) {
            throw new FileFormatException(
                    file,
                    "is truncated or of mixed widths: " + bytes + " bytes are not a whole number of rows of width "
                            + width + " (" + rowBytes + " bytes each), " + bytes % rowBytes + " are left after row "
                            + (rows - 1));
        }
    }

    private static void checkWidth(Path file, int row, int found, int width) throws FileFormatException {
        if (found != width) {
            throw new FileFormatException(file, "has a row " + row + " of width " + found + ", but row 0 has " + width);
        }
    }

    private static void fill(Path file, FileChannel channel, ByteBuffer buffer, long from) throws IOException {
        long position = from;
        while (buffer.hasRemaining()) {
            int read = channel.read(buffer, position);
            if (read < 0) {
                throw new FileFormatException(file, "became shorter while it was read");
            }
            position += read;
        }
        buffer.flip();
    }

    /** Writes rows of one width; {@code row} returns each row's values as a buffer of {@code 4 * width} bytes. */
    static void write(Path file, int rows, int width, IntFunction<ByteBuffer> row) throws IOException {
        byte[] header = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(width)
                .array();
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES)) {
            for (int i = 0; i < rows; i++) {
                out.write(header);
                out.write(row.apply(i).array());
            }
        }
    }

    static ByteBuffer values(int width) {
        return ByteBuffer.allocate(Integer.BYTES * width).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the common width of the rows to write. */
    static int commonWidth(Path file, int rows, IntFunction<Integer> widthOf) {
        int width = rows == 0 ? 0 : widthOf.apply(0);
        for (int row = 0; row < rows; row++) {
            if (widthOf.apply(row) != width || width == 0) {
                throw new IllegalArgumentException("all rows of " + file + " must have one width of at least 1, got "
                        + widthOf.apply(row) + " in row " + row + " and " + width + " in row 0");
            }
        }
        return width;
    }
}
