package io.github.roost.bench;

import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.VectorSource;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;

/**
 * Reads and writes ivecs files: per query the ordinals of its neighbors in the base, nearest first. Rows have one width; each is a
 * little-endian 32-bit width followed by that many 32-bit ordinals. Stateless.
 */
public final class OrdinalRows {
    private static final int BUFFER_BYTES = 1 << 20;
    /** All smaller whole numbers are exact as floats. */
    private static final float EXACT = 0x1p24f;

    private OrdinalRows() {}

    /**
     * Reads the true neighbors of queries. Sizes read from the file are checked against its length before use.
     *
     * @param file an ivecs file
     * @param queries number of rows that the file must have
     * @param k min number of neighbors per row; more are not returned
     * @param base size of the base; all ordinals must be below it
     * @return {@code queries} rows of {@code k} different ordinals
     * @throws FileFormatException if the file is not valid or does not meet these conditions
     */
    public static int[][] readTruth(Path file, int queries, int k, int base) throws IOException {
        checkReadable(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long bytes = channel.size();
            if (bytes == 0) {
                throw new FileFormatException(file, "is empty: it must hold at least one row");
            }
            if (bytes < Integer.BYTES) {
                throw new FileFormatException(file, "is truncated: " + bytes + " bytes are less than a row's width");
            }
            ByteBuffer first = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            fill(file, channel, first, 0);
            int width = first.getInt();
            long rowBytes = Integer.BYTES + (long) Integer.BYTES * width;
            if (width < 1 || rowBytes > bytes) {
                throw new FileFormatException(
                        file,
                        "has a row 0 of width " + width + ", which must be between 1 and " + (bytes / Integer.BYTES - 1)
                                + " in a file of " + bytes + " bytes");
            }
            if (bytes % rowBytes != 0) {
                throw new FileFormatException(
                        file,
                        "is truncated or of mixed widths: " + bytes + " bytes are not a whole number of rows of width "
                                + width + " (" + rowBytes + " bytes each), " + bytes % rowBytes + " are left after row "
                                + (bytes / rowBytes - 1));
            }
            if (bytes / rowBytes != queries) {
                throw new FileFormatException(
                        file, "must have one row per query, " + queries + ", got " + bytes / rowBytes);
            }
            if (width < k) {
                throw new FileFormatException(file, "must have at least k = " + k + " neighbors per row, got " + width);
            }
            return read(file, channel, queries, width, k, base);
        }
    }

    /**
     * Checks true neighbors of queries that another reader has read as floats.
     *
     * @param file the file, for messages
     * @param rows the ordinals
     * @param queries number of rows that there must be
     * @param k min number of neighbors per row; more are not returned
     * @param base size of the base; all ordinals must be below it
     * @return {@code queries} rows of {@code k} different ordinals
     * @throws FileFormatException if the rows do not meet these conditions, or have an ordinal that floats do not represent exactly
     */
    public static int[][] readTruth(Path file, VectorSource rows, int queries, int k, int base)
            throws FileFormatException {
        if (rows.size() != queries) {
            throw new FileFormatException(file, "must have one row per query, " + queries + ", got " + rows.size());
        }
        if (rows.dimension() < k) {
            throw new FileFormatException(
                    file, "must have at least k = " + k + " neighbors per row, got " + rows.dimension());
        }
        int[][] truth = new int[queries][];
        ByteBuffer ordinals = ByteBuffer.allocate(k * Integer.BYTES);
        for (int row = 0; row < queries; row++) {
            float[] values = rows.row(row);
            for (int i = 0; i < k; i++) {
                if (values[i] >= EXACT || values[i] != (int) values[i]) {
                    throw new FileFormatException(
                            file, "must have whole numbers below 16,777,216, got " + values[i] + " in row " + row);
                }
                ordinals.putInt(i * Integer.BYTES, (int) values[i]);
            }
            truth[row] = distinctOrdinals(file, row, ordinals, k, base);
        }
        return truth;
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

    private static int[][] read(Path file, FileChannel channel, int queries, int width, int k, int base)
            throws IOException {
        int rowBytes = Math.toIntExact(Integer.BYTES + (long) Integer.BYTES * width);
        int[][] truth = new int[queries][];
        ByteBuffer buffer = ByteBuffer.allocateDirect(Math.max(1, BUFFER_BYTES / rowBytes) * rowBytes)
                .order(ByteOrder.LITTLE_ENDIAN);
        long position = 0;
        for (int row = 0; row < queries; ) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), (queries - (long) row) * rowBytes));
            fill(file, channel, buffer, position);
            position += buffer.limit();
            for (; buffer.hasRemaining(); row++) {
                int found = buffer.getInt();
                if (found != width) {
                    throw new FileFormatException(
                            file, "has a row " + row + " of width " + found + ", but row 0 has " + width);
                }
                truth[row] = distinctOrdinals(file, row, buffer, k, base);
                buffer.position(buffer.position() + rowBytes - Integer.BYTES);
            }
        }
        return truth;
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

    private static int[] distinctOrdinals(Path file, int row, ByteBuffer values, int k, int base)
            throws FileFormatException {
        int[] ordinals = new int[k];
        values.asIntBuffer().get(ordinals);
        Set<Integer> seen = HashSet.newHashSet(k);
        for (int ordinal : ordinals) {
            if (ordinal < 0 || ordinal >= base) {
                throw new FileFormatException(
                        file,
                        "has ordinal " + ordinal + " in row " + row + ": it must be between 0 and " + (base - 1)
                                + ", the base has " + base + " vectors");
            }
            if (!seen.add(ordinal)) {
                throw new FileFormatException(file, "has ordinal " + ordinal + " twice in row " + row);
            }
        }
        return ordinals;
    }

    /**
     * Writes rows as an ivecs file, replacing an existing one.
     *
     * @throws IllegalArgumentException if the rows differ in width or there are none
     */
    public static void write(Path file, int[][] ordinals) throws IOException {
        int width = ordinals.length == 0 ? 0 : ordinals[0].length;
        for (int row = 0; row < ordinals.length; row++) {
            if (ordinals[row].length != width || width == 0) {
                throw new IllegalArgumentException("all rows of " + file + " must have one width of at least 1, got "
                        + ordinals[row].length + " in row " + row + " and " + width + " in row 0");
            }
        }
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES)) {
            for (int[] row : ordinals) {
                ByteBuffer bytes =
                        ByteBuffer.allocate(Integer.BYTES * (1 + width)).order(ByteOrder.LITTLE_ENDIAN);
                bytes.putInt(width).asIntBuffer().put(row);
                out.write(bytes.array());
            }
        }
    }
}
