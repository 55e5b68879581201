package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.WholeFile;
import io.github.roost.index.ivf.kernel.RowRun;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * A table as a file, all numbers little-endian:
 *
 * <pre>
 * head        magic, version, metric, dimension, lists, nprobe, seed, rows         64 bytes
 * directory   rows of each list, checksum of its vectors                          8 bytes a list
 * centroids   floats
 * ids         of all rows, list by list
 * checksum    of all above
 * vectors     list by list, rows padded as the kernel reads them, aligned          checked list by list
 * </pre>
 *
 * Opening reads all but the vectors, which are mapped; a list's vectors are checked when it is first scanned or changed.
 * Nothing that a file says is believed before it is checked, since the kernel follows its numbers without asking.
 */
record IvfFile(Metric metric, int dimension, int nprobe, long seed, float[][] centroids, long[][] ids) {
    private static final long MAGIC = 0x31465649_54534f52L;
    private static final int VERSION = 1;
    private static final int HEAD_BYTES = 64;
    private static final int MOST_LISTS = 131_072;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Gives out the vectors that live in a list, in the order of their ids. */
    @FunctionalInterface
    interface RowsByList {
        float[] row(int list, int index);
    }

    private int stride() {
        return RowRun.strideOf(dimension);
    }

    /** Writes the table to a file, whole or not at all. */
    void save(Path file, RowsByList vectors) throws IOException {
        WholeFile.replace(file, channel -> {
            int[] checksums = new int[ids.length];
            channel.position(vectorsAt(centroids.length, dimension, rows()));
            for (int list = 0; list < ids.length; list++) {
                ByteBuffer bytes = bytesOf(list, vectors);
                checksums[list] = checksum(bytes.duplicate());
                WholeFile.writeAll(channel, bytes);
            }
            channel.position(0);
            WholeFile.writeAll(channel, frontMatter(checksums));
        });
    }

    private long rows() {
        long rows = 0;
        for (long[] ofList : ids) {
            rows += ofList.length;
        }
        return rows;
    }

    private ByteBuffer bytesOf(int list, RowsByList vectors) {
        int rowBytes = stride() * Float.BYTES;
        ByteBuffer bytes = little(Math.multiplyExact(ids[list].length, rowBytes));
        for (int index = 0; index < ids[list].length; index++) {
            bytes.position(index * rowBytes).asFloatBuffer().put(vectors.row(list, index));
        }
        return bytes.rewind();
    }

    private ByteBuffer frontMatter(int[] checksums) {
        ByteBuffer front = little(Math.toIntExact(checksumAt(centroids.length, dimension, rows()) + Long.BYTES));
        front.putLong(MAGIC).putInt(VERSION).putInt(metric.ordinal()).putInt(dimension);
        front.putInt(centroids.length).putInt(nprobe).putInt(0).putLong(seed).putLong(rows());
        front.position(HEAD_BYTES);
        for (int list = 0; list < ids.length; list++) {
            front.putInt(ids[list].length).putInt(checksums[list]);
        }
        for (float[] centroid : centroids) {
            for (float component : centroid) {
                front.putFloat(component);
            }
        }
        for (long[] ofList : ids) {
            for (long id : ofList) {
                front.putLong(id);
            }
        }
        int sum = checksum(front.duplicate().flip());
        return front.putLong(Integer.toUnsignedLong(sum)).flip();
    }

    private static long centroidsAt(long lists) {
        return HEAD_BYTES + lists * 2 * Integer.BYTES;
    }

    private static long idsAt(long lists, long dimension) {
        return centroidsAt(lists) + lists * dimension * Float.BYTES;
    }

    private static long checksumAt(long lists, long dimension, long rows) {
        return idsAt(lists, dimension) + rows * Long.BYTES;
    }

    private static long vectorsAt(long lists, long dimension, long rows) {
        return (checksumAt(lists, dimension, rows) + Long.BYTES + 63) / 64 * 64;
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    /** A file that has been opened: what it says, and its lists over mapped vectors. */
    record Opened(IvfFile table, RowList[] lists) {}

    /**
     * @throws TableFileException if it is no such file, of another version, truncated, or damaged before its vectors
     */
    static Opened open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long bytes = channel.size();
            if (bytes < HEAD_BYTES + Long.BYTES) {
                throw new TableFileException(
                        file, 0, "is " + bytes + " bytes long, less than a table's head of " + HEAD_BYTES);
            }
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, Arena.ofAuto());
            IvfFile table = front(file, mapped);
            return new Opened(table, table.lists(file, mapped));
        }
    }

    private static IvfFile front(Path file, MemorySegment mapped) throws TableFileException {
        require(file, 0, "magic number", mapped.get(LONG, 0), MAGIC, MAGIC);
        require(file, 8, "version", mapped.get(INT, 8), VERSION, VERSION);
        long metric = require(file, 12, "metric", mapped.get(INT, 12), 0, Metric.values().length - 1);
        long dimension = require(file, 16, "dimension", mapped.get(INT, 16), 1, Vectors.MOST_DIMENSIONS);
        long count = require(file, 20, "number of lists", mapped.get(INT, 20), 1, MOST_LISTS);
        long nprobe = require(file, 24, "nprobe", mapped.get(INT, 24), 1, MOST_LISTS);
        long seed = mapped.get(LONG, 32);
        long most = mapped.byteSize() / Long.BYTES;
        long rows = require(file, 40, "number of rows", mapped.get(LONG, 40), 0, most);
        long end = checksumAt(count, dimension, rows);
        if (vectorsAt(count, dimension, rows) + rows * RowRun.strideOf((int) dimension) * Float.BYTES
                != mapped.byteSize()) {
            throw new TableFileException(
                    file, 40, "is " + mapped.byteSize() + " bytes long, which " + rows + " rows do not fill exactly");
        }
        long expected = mapped.get(LONG, end);
        long actual = Integer.toUnsignedLong(checksum(mapped.asSlice(0, end).asByteBuffer()));
        if (expected != actual) {
            throw new TableFileException(
                    file, end, "is damaged: its checksum is %08x, that of its bytes %08x".formatted(expected, actual));
        }
        long[][] ids = ids(file, mapped, (int) count, (int) dimension, rows);
        float[][] centroids = new float[(int) count][(int) dimension];
        for (int list = 0; list < count; list++) {
            long at = centroidsAt(count) + list * dimension * Float.BYTES;
            MemorySegment.copy(mapped, FLOAT, at, centroids[list], 0, (int) dimension);
        }
        return new IvfFile(Metric.values()[(int) metric], (int) dimension, (int) nprobe, seed, centroids, ids);
    }

    private static long[][] ids(Path file, MemorySegment mapped, int count, int dimension, long rows)
            throws TableFileException {
        long[][] ids = new long[count][];
        long next = 0;
        for (int list = 0; list < count; list++) {
            long at = HEAD_BYTES + list * 2L * Integer.BYTES;
            int size = (int) require(file, at, "list of rows", mapped.get(INT, at), 0, rows - next);
            ids[list] = new long[size];
            MemorySegment.copy(mapped, LONG, idsAt(count, dimension) + next * Long.BYTES, ids[list], 0, size);
            next += size;
        }
        require(file, HEAD_BYTES, "total of rows in lists", next, rows, rows);
        return ids;
    }

    private static long require(Path file, long at, String what, long value, long least, long most)
            throws TableFileException {
        if (value < least || value > most) {
            String range = least == most ? "it must be " + least : "it must be between " + least + " and " + most;
            throw new TableFileException(file, at, "has a " + what + " of " + value + ", " + range);
        }
        return value;
    }

    private RowList[] lists(Path file, MemorySegment mapped) {
        RowList[] lists = new RowList[ids.length];
        long rowBytes = (long) stride() * Float.BYTES;
        long at = vectorsAt(centroids.length, dimension, rows());
        for (int list = 0; list < lists.length; list++) {
            long from = at;
            int expected = mapped.get(INT, HEAD_BYTES + list * 2L * Integer.BYTES + Integer.BYTES);
            MemorySegment vectors = mapped.asSlice(from, ids[list].length * rowBytes);
            lists[list] = RowList.mapped(dimension, ids[list], vectors, () -> {
                int actual = checksum(vectors.asByteBuffer());
                if (actual != expected) {
                    throw new TableFileException(
                            file,
                            from,
                            "is damaged: a list's checksum is %08x, that of its bytes %08x"
                                    .formatted(expected, actual));
                }
            });
            at += vectors.byteSize();
        }
        return lists;
    }
}
