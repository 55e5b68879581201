package io.github.roost.server.input;

import io.github.roost.vector.Vectors;
import io.jhdf.HdfFile;
import io.jhdf.api.Dataset;
import io.jhdf.api.Link;
import io.jhdf.api.Node;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.chunked.Chunk;
import io.jhdf.dataset.chunked.ChunkedDatasetV4;
import io.jhdf.exceptions.HdfException;
import io.jhdf.filter.ByteShuffleFilter;
import io.jhdf.filter.DeflatePipelineFilter;
import io.jhdf.filter.LzfFilter;
import io.jhdf.filter.PipelineFilterWithData;
import io.jhdf.links.ExternalLink;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.FixedPoint;
import io.jhdf.object.datatype.FloatingPoint;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers of a two-dimensional dataset as floats: of any layout, with any of h5py's own filters. The library's reads of a part
 * of a chunked dataset give zeros, and its filters do not remove checksums, so chunks are decoded here, one at a time. Not
 * thread-safe.
 */
final class HdfRows {
    private static final int BLOCK_BYTES = 1 << 20;
    /** Filters by their registered numbers. */
    private static final int DEFLATE = 1;

    private static final int SHUFFLE = 2;
    private static final int FLETCHER32 = 3;
    private static final int LZF = 32_000;
    /** Words that are summed before the sums may overflow. */
    private static final int FLETCHER_RUN = 360;

    /** A size that may grow without end. */
    private static final long UNLIMITED = -1;

    private final Dataset dataset;
    private final int size;
    private final int dimension;
    /** Rows and columns of a chunk; empty if the dataset is not chunked. */
    private final int[] chunk;
    /** Elements that were never written have this value. */
    private final float fill;

    private HdfRows(Dataset dataset, int size, int dimension, int[] chunk) {
        this.dataset = dataset;
        this.size = size;
        this.dimension = dimension;
        this.chunk = chunk;
        this.fill = dataset.getFillValue() instanceof Number number ? number.floatValue() : 0;
    }

    /** @throws IOException if there is no such dataset, or it has no rows of numbers */
    static HdfRows of(HdfFile hdf, Path file, String name) throws IOException {
        Node node = hdf.getChild(name);
        if (node instanceof Link link) {
            node = node instanceof ExternalLink ? null : link.getTarget();
            if (node == null || node.getHdfFile() != hdf) {
                throw new IOException(file + " has a link \"" + name + "\" to another file, it must have the dataset");
            }
        }
        if (!(node instanceof Dataset dataset)) {
            throw new IOException(file + " has no dataset \"" + name + "\", which ann-benchmarks' files have");
        }
        String start = file + " has a dataset \"" + name + "\" ";
        if (!isOfNumbers(dataset.getDataType())) {
            throw new IOException(start + "whose elements are not integers or IEEE floats");
        }
        int[] shape = dataset.getDimensions();
        if (shape.length != 2) {
            throw new IOException(start + "of shape " + Arrays.toString(shape) + ", it must be [rows, dimensions]");
        }
        if (shape[0] < 1) {
            throw new IOException(start + "of " + shape[0] + " rows: there must be at least one");
        }
        if (shape[1] < 1 || shape[1] > Vectors.MAX_DIMENSIONS) {
            throw new IOException(
                    start + "of %,d dimensions: there must be 1 to %,d".formatted(shape[1], Vectors.MAX_DIMENSIONS));
        }
        int[] chunk = {};
        if (dataset instanceof ChunkedDataset chunked) {
            chunk = chunked.getChunkDimensions();
            if (chunk.length != 2 || chunk[0] < 1 || chunk[1] < 1) {
                throw new HdfException("chunks of shape " + Arrays.toString(chunk));
            }
            requirePlaces(chunked, start);
            for (PipelineFilterWithData filter : dataset.getFilters()) {
                if (filter.getId() > FLETCHER32 && filter.getId() != LZF) {
                    throw new IOException(start + "with the filter " + filter.getName()
                            + ", it must be gzip, lzf, shuffle or fletcher32");
                }
            }
        }
        Dataset read = dataset instanceof ChunkedDataset chunked ? HdfChunks.of(hdf, chunked) : dataset;
        return new HdfRows(read, shape[0], shape[1], chunk);
    }

    /**
     * Refuses columns that may become more: the newer format numbers chunks by the shape that they may come to, the library by the
     * present one. Where both numbers may grow without end, chunks have no numbers.
     */
    private static void requirePlaces(ChunkedDataset dataset, String start) throws IOException {
        long[] most = dataset.getMaxSize();
        boolean isNumbered = dataset instanceof ChunkedDatasetV4 && !(most[0] == UNLIMITED && most[1] == UNLIMITED);
        if (isNumbered && most[1] != dataset.getDimensions()[1]) {
            String more = most[1] == UNLIMITED ? "any number" : "%,d".formatted(most[1]);
            throw new IOException(start
                    + "of %,d columns, which may become %s: their number must be fixed"
                            .formatted(dataset.getDimensions()[1], more));
        }
    }

    /** Whether elements have all bits of their bytes, in the format that Java gives them. */
    private static boolean isOfNumbers(DataType type) {
        int bytes = type.getSize();
        return switch (type) {
            case FixedPoint integer ->
                integer.getBitPrecision() == bytes * Byte.SIZE && integer.getBitOffset() == 0 && bytes <= Long.BYTES;
            case FloatingPoint real ->
                real.getBitPrecision() == bytes * Byte.SIZE
                        && real.getExponentSize()
                                == switch (bytes) {
                                    case Short.BYTES -> 5;
                                    case Float.BYTES -> 8;
                                    case Double.BYTES -> 11;
                                    default -> -1;
                                };
            default -> false;
        };
    }

    int size() {
        return size;
    }

    int dimension() {
        return dimension;
    }

    /** Whether a read decodes more than it returns, so that its result is worth keeping. */
    boolean isChunked() {
        return chunk.length > 0;
    }

    /** Rows that are best read together: whole chunks. */
    int blockRows() {
        int rows = Math.max(1, BLOCK_BYTES / (Float.BYTES * dimension));
        return isChunked() ? (int) Math.min(size, Math.max(1L, rows / chunk[0]) * chunk[0]) : rows;
    }

    /** @param first a multiple of {@link #blockRows} */
    float[][] read(int first, int count) {
        float[][] rows = new float[count][dimension];
        switch (dataset) {
            case HdfChunks chunked -> {
                for (int row = 0; row < count; row = (int) Math.min(count, (long) row + chunk[0])) {
                    for (int column = 0;
                            column < dimension;
                            column = (int) Math.min(dimension, (long) column + chunk[1])) {
                        readChunk(chunked, first, row, column, rows);
                    }
                }
            }
            case ContiguousDataset contiguous
            when contiguous.isEmpty() -> {
                for (float[] row : rows) {
                    Arrays.fill(row, fill);
                }
            }
            case ContiguousDataset contiguous ->
                copy(contiguous.getData(new long[] {first, 0}, new int[] {count, dimension}), 0, rows, 0);
            default -> copy(dataset.getData(), first, rows, 0);
        }
        return rows;
    }

    /** @param row the chunk's first row in {@code rows}, the first of which is row {@code first} of the dataset */
    private void readChunk(HdfChunks chunked, int first, int row, int column, float[][] rows) {
        float[][] part = Arrays.copyOfRange(rows, row, (int) Math.min(rows.length, (long) row + chunk[0]));
        Chunk known = chunked.chunk(first + row, column);
        if (known == null) {
            for (float[] unwritten : part) {
                Arrays.fill(unwritten, column, (int) Math.min(dimension, (long) column + chunk[1]), fill);
            }
            return;
        }
        ByteBuffer stored = chunked.getRawChunkBuffer(known.getChunkOffset());
        byte[] bytes = new byte[stored.remaining()];
        stored.get(bytes);
        List<PipelineFilterWithData> filters = chunked.getFilters();
        for (int i = filters.size() - 1; i >= 0; i--) {
            if (!known.getFilterMask().get(i)) {
                bytes = decoded(filters.get(i), bytes);
            }
        }
        long expected = (long) chunk[0] * chunk[1] * chunked.getDataType().getSize();
        if (bytes.length != expected) {
            throw new HdfException("the chunk of row %,d and column %,d has %,d bytes, it must have %,d"
                    .formatted(first + row, column, bytes.length, expected));
        }
        copy(chunked.getDataType().fillData(ByteBuffer.wrap(bytes), chunk, null), 0, part, column);
    }

    private static byte[] decoded(PipelineFilterWithData filter, byte[] bytes) {
        return switch (filter.getId()) {
            case DEFLATE -> new DeflatePipelineFilter().decode(bytes, filter.getFilterData());
            case SHUFFLE -> new ByteShuffleFilter().decode(bytes, filter.getFilterData());
            case LZF -> new LzfFilter().decode(bytes, filter.getFilterData());
            default -> withoutChecksum(bytes);
        };
    }

    private static byte[] withoutChecksum(byte[] bytes) {
        int length = bytes.length - Integer.BYTES;
        int said = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
        int sum = fletcher32(bytes, length);
        if (said != sum) {
            throw new HdfException("a chunk's checksum is %08x, its bytes have %08x".formatted(said, sum));
        }
        return Arrays.copyOf(bytes, length);
    }

    /** Fletcher's checksum of big-endian words of two bytes, the last of them padded with zero, as HDF5 has it. */
    private static int fletcher32(byte[] bytes, int length) {
        int sum = 0;
        int sums = 0;
        int words = 0;
        for (int at = 0; at < length; at += 2) {
            int low = at + 1 < length ? Byte.toUnsignedInt(bytes[at + 1]) : 0;
            sum += Byte.toUnsignedInt(bytes[at]) << Byte.SIZE | low;
            sums += sum;
            if (++words % FLETCHER_RUN == 0) {
                sum = folded(sum);
                sums = folded(sums);
            }
        }
        // Twice, because the first fold may carry.
        return folded(folded(sums)) << Short.SIZE | folded(folded(sum));
    }

    private static int folded(int sum) {
        return (sum & 0xffff) + (sum >>> Short.SIZE);
    }

    /** Copies rows of numbers of any type, as many of their first elements as fit. */
    private static void copy(Object numbers, int from, float[][] into, int column) {
        Object[] rows = (Object[]) numbers;
        for (int row = 0; row < into.length; row++) {
            copy(rows[from + row], into[row], column);
        }
    }

    private static void copy(Object numbers, float[] into, int from) {
        switch (numbers) {
            case float[] floats -> System.arraycopy(floats, 0, into, from, Math.min(floats.length, into.length - from));
            case double[] doubles -> {
                for (int i = 0; i < doubles.length && from + i < into.length; i++) {
                    into[from + i] = (float) doubles[i];
                }
            }
            case byte[] bytes -> {
                for (int i = 0; i < bytes.length && from + i < into.length; i++) {
                    into[from + i] = bytes[i];
                }
            }
            case short[] shorts -> {
                for (int i = 0; i < shorts.length && from + i < into.length; i++) {
                    into[from + i] = shorts[i];
                }
            }
            case int[] ints -> {
                for (int i = 0; i < ints.length && from + i < into.length; i++) {
                    into[from + i] = ints[i];
                }
            }
            case long[] longs -> {
                for (int i = 0; i < longs.length && from + i < into.length; i++) {
                    into[from + i] = longs[i];
                }
            }
            case BigInteger[] integers -> {
                for (int i = 0; i < integers.length && from + i < into.length; i++) {
                    into[from + i] = integers[i].floatValue();
                }
            }
            default -> throw new IllegalStateException("the type was checked before");
        }
    }
}
