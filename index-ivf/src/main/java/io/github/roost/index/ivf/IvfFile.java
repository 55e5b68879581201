package io.github.roost.index.ivf;

import io.github.roost.core.MappingId;
import io.github.roost.index.ivf.format.IvfFormats;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.SectionWriter;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.math.ScalarQuantizer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The file format of a table; all numbers are little-endian:
 *
 * <pre>
 * head        magic, version, metric, dimension, lists, nprobe, element, seed, rows, floats, codes,
 *             exponent of rows, rerank, target recall (0 if nprobe was not measured)                     72 bytes
 * directory   row count and block checksum of each list                                                8 bytes per list
 * centroids   floats
 * codecs      if there are codes, of each list and of the buffer: the center, floats; the max loss of rows: length and error, doubles
 * ids         of all rows, list by list
 * checksum    of all above
 * blocks      list by list, rows as the kernel reads them, aligned                                     each with its checksum
 * </pre>
 *
 * Opening reads everything but the blocks, which are mapped; a list's block is checked when it is first scanned or changed,
 * including that its floats are finite. Everything in a file is checked before it is used, since the kernel does not check
 * its arguments.
 */
record IvfFile(
        Metric metric,
        RowLayout layout,
        List<ScalarCodec> codecs,
        int exponent,
        int nprobe,
        double targetRecall,
        long seed,
        double rerank,
        float[][] centroids,
        long[][] ids) {
    private static final long MAGIC = IvfFormats.TABLE.magic();
    private static final int VERSION = 5;
    private static final int HEAD_BYTES = 72;
    private static final int LOSS_BYTES = 2 * Double.BYTES;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** More than the binary exponents of floats. */
    private static final int MAX_EXPONENT = 160;

    /** Bits that are all set only in floats that are infinite or NaN. */
    private static final int FLOAT_EXPONENT = 0x7f800000;

    private static final int HALF_EXPONENT = 0x7c00;

    /** Alignment of the blocks. */
    private static final int ALIGNMENT = 64;

    /** Fills a block with the live rows of a list, in the order of its ids. */
    @FunctionalInterface
    interface RowsByList {
        void copy(int list, RowBlock target);
    }

    /** Writes the table to a file atomically. */
    void save(Path file, RowsByList rows) throws IOException {
        WholeFile.replace(file, channel -> {
            int[] checksums = new int[ids.length];
            channel.position(places().blocks());
            for (int list = 0; list < ids.length; list++) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment bytes = arena.allocate(layout.bytes(ids[list].length), ALIGNMENT);
                    rows.copy(list, new RowBlock(0, ids[list].length, layout, bytes));
                    checksums[list] = Checksum.of(bytes);
                    WholeFile.writeAll(channel, bytes);
                }
            }
            channel.position(0);
            writeFront(channel, checksums);
        });
    }

    private long rows() {
        long rows = 0;
        for (long[] ofList : ids) {
            rows += ofList.length;
        }
        return rows;
    }

    /** Offsets of the parts of a file. */
    private record Places(long centroids, long codec, long ids, long checksum, long blocks) {
        static Places of(long lists, long dimension, boolean codes, long rows) {
            long centroids = HEAD_BYTES + lists * 2 * Integer.BYTES;
            long codec = centroids + lists * dimension * Float.BYTES;
            long ids = codec + (codes ? (lists + 1) * (dimension * Float.BYTES + LOSS_BYTES) : 0);
            long checksum = ids + rows * Long.BYTES;
            return new Places(centroids, codec, ids, checksum, aligned(checksum + SectionWriter.CHECKSUM_BYTES));
        }

        private static long aligned(long at) {
            return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    }

    private Places places() {
        return Places.of(centroids.length, layout.dimension(), layout.codes(), rows());
    }

    /**
     * Writes everything before the blocks, from the channel's position on, padded to the first block, as nothing
     * follows if there are no rows. In pieces, as centroids alone may exceed a buffer.
     *
     * @param checksums of the blocks
     */
    void writeFront(WritableByteChannel channel, int[] checksums) throws IOException {
        SectionWriter front = new SectionWriter(channel);
        ByteBuffer head = front.room(HEAD_BYTES);
        head.putLong(MAGIC).putInt(VERSION).putInt(metric.ordinal()).putInt(layout.dimension());
        head.putInt(centroids.length)
                .putInt(nprobe)
                .putInt(layout.element().ordinal())
                .putLong(seed)
                .putLong(rows());
        head.putInt(layout.floats() ? 1 : 0)
                .putShort((short) (layout.codes() ? 1 : 0))
                .putShort((short) exponent)
                .putDouble(rerank)
                .putDouble(targetRecall);
        for (int list = 0; list < ids.length; list++) {
            front.room(2 * Integer.BYTES).putInt(ids[list].length).putInt(checksums[list]);
        }
        for (float[] centroid : centroids) {
            front.put(centroid);
        }
        for (ScalarCodec codec : codecs) {
            write(front, codec);
        }
        if (layout.codec() != null) {
            write(front, layout.codec());
        }
        for (long[] ofList : ids) {
            front.put(ofList);
        }
        front.end(ALIGNMENT);
    }

    private static void write(SectionWriter front, ScalarCodec codec) throws IOException {
        front.put(codec.quantizer().center());
        // Beyond the largest float, a row is lost in any case.
        front.room(LOSS_BYTES)
                .putDouble(Math.min(codec.maxLoss().length(), Double.MAX_VALUE))
                .putDouble(Math.min(codec.maxLoss().error(), Double.MAX_VALUE));
    }

    /** An opened file: its contents, its lists over mapped blocks, and the whole mapping. */
    record Opened(IvfFile table, RowList[] lists, MemorySegment mapped) {
        /** The location of each row, to be closed. */
        RowMap locations(Path file) throws FileFormatException {
            long[][] ids = table.ids();
            RowMap locations =
                    new RowMap(Arrays.stream(ids).mapToInt(list -> list.length).sum());
            boolean isDone = false;
            try {
                for (int list = 0; list < ids.length; list++) {
                    for (int place = 0; place < ids[list].length; place++) {
                        if (locations.get(ids[list][place]) != RowMap.NOWHERE) {
                            throw new FileFormatException(file, 0, "has two rows of id " + ids[list][place]);
                        }
                        locations.put(ids[list][place], list, place);
                    }
                }
                isDone = true;
                return locations;
            } finally {
                if (!isDone) {
                    locations.close();
                }
            }
        }
    }

    /**
     * @throws FileFormatException if it is not a table file, or of another version, truncated, or damaged before its blocks
     */
    static Opened open(Path file) throws IOException {
        try (FileChannel channel = TableFormat.open(file)) {
            long bytes = channel.size();
            new FileChecks(file)
                    .requireHead(bytes, HEAD_BYTES + SectionWriter.CHECKSUM_BYTES, "a table's head of " + HEAD_BYTES);
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, Arena.ofAuto());
            IvfFile table = front(file, mapped);
            return new Opened(table, table.lists(file, mapped), mapped);
        }
    }

    private static IvfFile front(Path file, MemorySegment mapped) throws FileFormatException {
        IvfFormats.TABLE.require(file, mapped.get(LONG, 0));
        FileChecks checks = new FileChecks(file);
        checks.requireVersion(8, mapped.get(INT, 8), VERSION);
        int metric = checks.requireRange(12, "metric", mapped.get(INT, 12), 0, Metric.values().length - 1);
        int dimension = checks.requireRange(16, "dimension", mapped.get(INT, 16), 1, Vectors.MAX_DIMENSIONS);
        int count = checks.requireRange(20, "number of lists", mapped.get(INT, 20), 1, MappingId.MAX_PER_ORCHESTRATOR);
        int nprobe = checks.requireRange(24, "nprobe", mapped.get(INT, 24), 1, MappingId.MAX_PER_ORCHESTRATOR);
        ElementType element = ElementType.values()[
                checks.requireRange(28, "element type", mapped.get(INT, 28), 0, ElementType.values().length - 1)];
        long seed = mapped.get(LONG, 32);
        long max = mapped.byteSize() / Long.BYTES;
        long rows = checks.requireRange(40, "number of rows", mapped.get(LONG, 40), 0, max);
        boolean bytes = element == ElementType.INT8;
        boolean floats = checks.requireRange(48, "mark of floats", mapped.get(INT, 48), bytes ? 0 : 1, 1) == 1;
        int maxCodes = element == ElementType.FLOAT16 ? 0 : 1;
        int minCodes = floats ? 0 : 1;
        boolean codes = checks.requireRange(52, "mark of codes", mapped.get(SHORT, 52), minCodes, maxCodes) == 1;
        int exponent = checks.requireRange(54, "exponent of rows", mapped.get(SHORT, 54), -MAX_EXPONENT, MAX_EXPONENT);
        double rerank = mapped.get(DOUBLE, 56);
        double targetRecall = mapped.get(DOUBLE, 64);
        Places places = Places.of(count, dimension, codes, rows);
        if (places.blocks() > mapped.byteSize()) {
            throw new FileFormatException(
                    file, 40, "is " + mapped.byteSize() + " bytes long, too short for " + rows + " rows");
        }
        checks.requireSection(0, "its checksum", mapped.asSlice(0, places.checksum() + SectionWriter.CHECKSUM_BYTES));
        if (!(rerank >= 0 && rerank <= IvfTableBuilder.MAX_RERANK)) {
            throw new FileFormatException(
                    file, 56, "has a rerank of " + rerank + ", it must be between 0 and " + IvfTableBuilder.MAX_RERANK);
        }
        if (!(targetRecall >= 0 && targetRecall <= 1)) {
            throw new FileFormatException(
                    file, 64, "has a target recall of " + targetRecall + ", it must be between 0 and 1");
        }
        long[][] ids = ids(checks, mapped, places, count, rows);
        float[][] centroids = new float[count][];
        for (int list = 0; list < count; list++) {
            long at = places.centroids() + (long) list * dimension * Float.BYTES;
            centroids[list] = numbers(checks, mapped, at, dimension, "centroid", -Float.MAX_VALUE);
        }
        Metric measure = Metric.values()[metric];
        List<ScalarCodec> codecs = new ArrayList<>();
        for (int list = 0; codes && list <= count; list++) {
            long at = places.codec() + (long) list * (dimension * Float.BYTES + LOSS_BYTES);
            float[] center = numbers(checks, mapped, at, dimension, "center of codes", -Float.MAX_VALUE);
            ScalarCodec.Loss loss = loss(checks, mapped, at + (long) dimension * Float.BYTES);
            codecs.add(new ScalarCodec(measure, new ScalarQuantizer(center), loss));
        }
        RowLayout layout = RowLayout.of(element, floats, dimension, codes ? codecs.removeLast() : null);
        return new IvfFile(
                measure, layout, List.copyOf(codecs), exponent, nprobe, targetRecall, seed, rerank, centroids, ids);
    }

    /** Reads floats that must be finite: otherwise distances would be NaN, and rows would be missing from answers. */
    private static float[] numbers(FileChecks checks, MemorySegment mapped, long at, int count, String what, float min)
            throws FileFormatException {
        float[] floats = new float[count];
        MemorySegment.copy(mapped, FLOAT, at, floats, 0, count);
        for (int i = 0; i < count; i++) {
            checks.requireFinite(at + (long) i * Float.BYTES, what, floats[i], min);
        }
        return floats;
    }

    private static ScalarCodec.Loss loss(FileChecks checks, MemorySegment mapped, long at) throws FileFormatException {
        double[] maxLoss = new double[LOSS_BYTES / Double.BYTES];
        MemorySegment.copy(mapped, DOUBLE, at, maxLoss, 0, maxLoss.length);
        for (int i = 0; i < maxLoss.length; i++) {
            checks.requireFinite(at + (long) i * Double.BYTES, "loss", maxLoss[i], 0);
        }
        return new ScalarCodec.Loss(maxLoss[0], maxLoss[1]);
    }

    private static long[][] ids(FileChecks checks, MemorySegment mapped, Places places, int count, long rows)
            throws FileFormatException {
        long[][] ids = new long[count][];
        long next = 0;
        for (int list = 0; list < count; list++) {
            long at = HEAD_BYTES + list * 2L * Integer.BYTES;
            int size = (int) checks.requireRange(at, "list of rows", mapped.get(INT, at), 0, rows - next);
            ids[list] = new long[size];
            MemorySegment.copy(mapped, LONG, places.ids() + next * Long.BYTES, ids[list], 0, size);
            next += size;
        }
        checks.requireEqual(HEAD_BYTES, "total of rows in lists", next, rows);
        return ids;
    }

    private RowList[] lists(Path file, MemorySegment mapped) throws FileFormatException {
        long end = places().blocks();
        for (long[] ofList : ids) {
            end += layout.bytes(ofList.length);
        }
        if (end != mapped.byteSize()) {
            throw new FileFormatException(
                    file,
                    Math.min(end, mapped.byteSize()),
                    "is " + mapped.byteSize() + " bytes long, its " + rows() + " rows end at " + end);
        }
        RowList[] lists = new RowList[ids.length];
        long at = places().blocks();
        for (int list = 0; list < lists.length; list++) {
            long from = at;
            long expected =
                    Integer.toUnsignedLong(mapped.get(INT, HEAD_BYTES + list * 2L * Integer.BYTES + Integer.BYTES));
            MemorySegment bytes = mapped.asSlice(from, layout.bytes(ids[list].length));
            int rows = ids[list].length;
            RowLayout ofList = codecs.isEmpty() ? layout : layout.with(codecs.get(list));
            lists[list] = RowList.mapped(ofList, ids[list], bytes, () -> {
                new FileChecks(file).requireChecksum(from, "a list's checksum", expected, bytes);
                requireNumbers(file, from, bytes, rows);
            });
            at += bytes.byteSize();
        }
        return lists;
    }

    /** Rejects NaN, which marks deleted rows: a file has none, as its rows are counted by their ids. */
    private void requireNumbers(Path file, long from, MemorySegment bytes, int rows) throws FileFormatException {
        long codes = layout.floatBytesOf(rows);
        long terms = codes + layout.codeBytesOf(rows);
        MemorySegment floats = bytes.asSlice(0, codes);
        if (layout.floatBytes() == Short.BYTES) {
            requireNumbers(file, from, floats, HALF_EXPONENT, HALF_EXPONENT << Short.SIZE);
        } else {
            requireNumbers(file, from, floats, FLOAT_EXPONENT, FLOAT_EXPONENT);
        }
        requireNumbers(file, from + terms, bytes.asSlice(terms), FLOAT_EXPONENT, FLOAT_EXPONENT);
    }

    /**
     * Checks words of four bytes, each a float32 or two float16.
     *
     * @param one bits that are all set if a float32, or the low float16, is infinite or NaN
     * @param other the same for the high float16; equal to {@code one} for float32
     */
    private static void requireNumbers(Path file, long from, MemorySegment bytes, int one, int other)
            throws FileFormatException {
        for (long at = 0; at < bytes.byteSize(); at += Integer.BYTES) {
            int bits = bytes.get(INT, at);
            if ((bits & one) == one || (bits & other) == other) {
                throw new FileFormatException(file, from + at, "has a row that is not of finite numbers");
            }
        }
    }
}
