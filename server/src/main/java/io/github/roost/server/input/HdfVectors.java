package io.github.roost.server.input;

import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.jhdf.HdfFile;
import io.jhdf.api.Attribute;
import io.jhdf.exceptions.HdfException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The rows of one dataset in an HDF5 file in the format of ann-benchmarks: a two-dimensional array of numbers. Rows are read in blocks;
 * the last few are cached, so a file may be larger than the heap. If a dataset is stored in chunks, a quarter of the heap caches
 * blocks, because each is decoded as a whole. Thread-safe, one reader at a time.
 */
public final class HdfVectors implements VectorSource, AutoCloseable {
    /** The dataset of the rows to index. */
    public static final String ROWS = "train";
    /** The dataset of the queries. */
    public static final String QUERIES = "test";
    /** The dataset of the numbers of each query's nearest rows. */
    public static final String NEIGHBORS = "neighbors";

    private static final long CACHE_BYTES = 64 << 20;
    /** "\211HDF\r\n\032\n". */
    private static final long SIGNATURE = 0x0a1a0a0d46444889L;
    /** The size of the superblock up to the field with the end of the file, in every version. */
    private static final int SUPERBLOCK_BYTES = 48;

    private final HdfFile hdf;
    private final Path file;
    private final HdfRows rows;
    private final int blockRows;
    private final long maxBlocks;
    /** Blocks by number, least recently used first. Guarded by this. */
    private final Map<Integer, float[][]> blocks = new LinkedHashMap<>(16, .75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, float[][]> eldest) {
            return size() > maxBlocks;
        }
    };

    private HdfVectors(HdfFile hdf, Path file, HdfRows rows) {
        this.hdf = hdf;
        this.file = file;
        this.rows = rows;
        this.blockRows = rows.blockRows();
        long cacheBytes =
                rows.isChunked() ? Math.max(CACHE_BYTES, Runtime.getRuntime().maxMemory() / 4) : CACHE_BYTES;
        this.maxBlocks = Math.max(1, cacheBytes / ((long) blockRows * rows.dimension() * Float.BYTES));
    }

    /** Whether a file name has an HDF5 extension. */
    public static boolean isNamed(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.endsWith(".hdf5") || name.endsWith(".h5");
    }

    /**
     * Returns the metric named by a file's attribute {@code distance}.
     *
     * @throws IOException if the file is not HDF5, or names an unsupported distance
     */
    public static Metric metric(Path file) throws IOException {
        requireWhole(file);
        try (HdfFile hdf = new HdfFile(file)) {
            Attribute distance = hdf.getAttribute("distance");
            Object named = distance == null ? "euclidean" : distance.getData();
            if (named instanceof Object[] array && array.length == 1) {
                named = array[0];
            }
            return switch (String.valueOf(named)) {
                case "euclidean" -> Metric.SQUARED_L2;
                case "angular", "cosine" -> Metric.COSINE;
                case "dot", "ip" -> Metric.INNER_PRODUCT;
                default ->
                    throw new IOException(
                            file + " measures distances by " + named + ", it must be euclidean, angular or dot");
            };
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            throw broken(file, broken);
        }
    }

    /**
     * Opens a dataset of rows.
     *
     * @param name of the dataset
     * @throws IOException if the file is not HDF5, or has no such dataset of rows of numbers
     */
    public static HdfVectors open(Path file, String name) throws IOException {
        requireWhole(file);
        HdfFile hdf;
        try {
            hdf = new HdfFile(file);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            throw broken(file, broken);
        }
        boolean opened = false;
        try {
            HdfVectors vectors = new HdfVectors(hdf, file, HdfRows.of(hdf, file, name));
            opened = true;
            return vectors;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            throw broken(file, broken);
        } finally {
            if (!opened) {
                hdf.close();
            }
        }
    }

    /**
     * Refuses a file shorter than its superblock says, for example after an interrupted download: the library reads the missing part as zeros,
     * and may never end.
     */
    private static void requireWhole(Path file) throws IOException {
        byte[] head;
        try (InputStream in = Files.newInputStream(file)) {
            head = in.readNBytes(SUPERBLOCK_BYTES);
        }
        if (head.length < SUPERBLOCK_BYTES) {
            throw new IOException(file + " cannot be read as HDF5: it has " + head.length + " bytes");
        }
        ByteBuffer superblock = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
        boolean isOld = head[8] < 2;
        if (superblock.getLong(0) == SIGNATURE && head[isOld ? 13 : 9] == Long.BYTES) {
            long end = superblock.getLong((isOld ? 24 : 12) + 2 * Long.BYTES);
            long bytes = Files.size(file);
            if (end < 0 || end > bytes) {
                throw new IOException(file + " cannot be read as HDF5: it has " + bytes + " bytes, and says it has "
                        + Long.toUnsignedString(end));
            }
        }
    }

    /** The library does not check sizes and offsets in the file; wrong ones cause arbitrary failures. */
    private static IOException broken(Path file, Throwable cause) {
        // The first cause says what it is; the others, where.
        Throwable first = cause;
        while (first.getCause() instanceof HdfException earlier) {
            first = earlier;
        }
        String why = first instanceof HdfException
                ? String.valueOf(first.getMessage())
                : first instanceof OutOfMemoryError ? "it needs more memory than there is" : "it is damaged";
        return new IOException(file + " cannot be read as HDF5: " + why, cause);
    }

    @Override
    public int size() {
        return rows.size();
    }

    @Override
    public int dimension() {
        return rows.dimension();
    }

    @Override
    public void read(int row, float[] into) {
        int block = row / blockRows;
        System.arraycopy(block(block)[row - block * blockRows], 0, into, 0, dimension());
    }

    private synchronized float[][] block(int number) {
        float[][] known = blocks.get(number);
        if (known == null) {
            known = readBlock(number);
            blocks.put(number, known);
        }
        return known;
    }

    private float[][] readBlock(int number) {
        int first = number * blockRows;
        try {
            return rows.read(first, Math.min(blockRows, size() - first));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            throw new UncheckedIOException(broken(file, broken));
        }
    }

    @Override
    public void close() {
        hdf.close();
    }
}
