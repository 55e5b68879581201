package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.LiveRows.RowsSnapshot;
import io.github.roost.index.hnsw.format.HnswFormats;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.SectionWriter;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The file format of a live table, all numbers little-endian:
 *
 * <pre>
 * head        magic, version, length of the front, metric, dimension, m, efConstruction, mergeAfter, parts,
 *             element type, 0                                                                            48 bytes
 * directory   for each part: offset of its image, the image's length, number of rows, 0, bit set of live rows
 * checksum    of the front, which is everything above
 * images      each at the start of a page, zero padding between; as {@link ImageFile} writes them
 * </pre>
 *
 * <p>Every field is validated before it is used.
 *
 * @param options the build options of its graphs
 * @param dimension components per vector
 * @param mergeAfter max rows of a part without a graph
 * @param parts older rows first, none empty
 */
record LiveTableFile(GraphOptions options, int dimension, int mergeAfter, List<RowsSnapshot> parts) {
    /** "ROOSTLIV", little-endian. */
    private static final long MAGIC = HnswFormats.LIVE.magic();

    private static final int VERSION = 1;
    private static final int HEAD_BYTES = 48;
    private static final int CHECKSUM_BYTES = SectionWriter.CHECKSUM_BYTES;
    /** A directory entry, without its bit set. */
    private static final int ENTRY_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

    /** Min ratio of an image's length to its entry's: an image has a head of one page, and at least 8 bytes per bit of the bit set. */
    private static final int MIN_IMAGE_PER_ENTRY = 64;

    private static final int PAGE = 4_096;
    private static final int AT_VERSION = 8;
    private static final int AT_FRONT_BYTES = 12;
    private static final int AT_METRIC = 16;
    private static final int AT_DIMENSION = 20;
    private static final int AT_M = 24;
    private static final int AT_EF_CONSTRUCTION = 28;
    private static final int AT_MERGE_AFTER = 32;
    private static final int AT_PARTS = 36;
    private static final int AT_ELEMENT = 40;
    /** The element types' values in a file. */
    private static final int FLOATS = 0;

    private static final int CODES = 1;

    /** Writes the file, replacing any file of that name atomically, as {@link WholeFile} does. */
    void save(Path file) throws IOException {
        WholeFile.replace(file, channel -> {
            ByteBuffer front = head();
            long at = pageAfter(front.capacity() + CHECKSUM_BYTES);
            for (RowsSnapshot part : parts) {
                channel.position(at);
                long bytes = ImageFile.write(part.rowsAlone(), channel);
                putEntry(front, at, bytes, part);
                at = pageAfter(at + bytes);
            }
            channel.position(0);
            SectionWriter section = new SectionWriter(channel);
            section.put(MemorySegment.ofBuffer(front.flip()));
            section.end(1);
        });
    }

    private ByteBuffer head() throws IOException {
        long bytes = HEAD_BYTES + CHECKSUM_BYTES;
        for (RowsSnapshot part : parts) {
            bytes += ENTRY_BYTES + (long) part.alive().length * Long.BYTES;
        }
        if (bytes > Integer.MAX_VALUE) {
            throw new IOException("a saved table must have fewer than 17 billion rows, deleted ones included");
        }
        ByteBuffer front = little((int) bytes - CHECKSUM_BYTES);
        front.putLong(MAGIC).putInt(VERSION).putInt((int) bytes);
        front.putInt(options.metric().ordinal()).putInt(dimension).putInt(options.m());
        front.putInt(options.efConstruction()).putInt(mergeAfter).putInt(parts.size());
        front.putInt(options.elementType() == ElementType.INT8 ? CODES : FLOATS);
        return front.position(HEAD_BYTES);
    }

    private static void putEntry(ByteBuffer front, long at, long bytes, RowsSnapshot part) {
        front.putLong(at).putLong(bytes).putInt(part.rows()).putInt(0);
        for (long word : part.alive()) {
            front.putLong(word);
        }
    }

    private static long pageAfter(long at) {
        return (at + PAGE - 1) / PAGE * PAGE;
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reads and verifies a file; images stay mapped.
     *
     * @throws FileFormatException if the file has another format or version, or is truncated or damaged
     */
    static LiveTableFile open(Path file) throws IOException {
        try (FileChannel channel = TableFormat.open(file)) {
            return new Reader(file, new FileChecks(file), channel, channel.size()).read();
        }
    }

    /** Reads one file. */
    private record Reader(Path file, FileChecks checks, FileChannel channel, long bytes) {
        LiveTableFile read() throws IOException {
            ByteBuffer front = front();
            Metric metric = Metric.values()[
                    checks.requireRange(AT_METRIC, "metric", front.getInt(AT_METRIC), 0, Metric.values().length - 1)];
            int dimension = checks.requireRange(
                    AT_DIMENSION, "dimension", front.getInt(AT_DIMENSION), 1, Vectors.MAX_DIMENSIONS);
            int element = checks.requireRange(AT_ELEMENT, "element type", front.getInt(AT_ELEMENT), FLOATS, CODES);
            GraphOptions options = new GraphOptions(
                    metric,
                    element == CODES ? ElementType.INT8 : ElementType.FLOAT32,
                    checks.requireRange(AT_M, "m", front.getInt(AT_M), 2, GraphOptions.MAX_M),
                    checks.requireRange(
                            AT_EF_CONSTRUCTION,
                            "efConstruction",
                            front.getInt(AT_EF_CONSTRUCTION),
                            1,
                            GraphOptions.MAX_EF_CONSTRUCTION));
            int mergeAfter = checks.requireRange(
                    AT_MERGE_AFTER,
                    "mergeAfter",
                    front.getInt(AT_MERGE_AFTER),
                    LiveTable.MIN_MERGE_AFTER,
                    LiveTable.MAX_MERGE_AFTER);
            int count = checks.requireRange(
                    AT_PARTS, "number of parts", front.getInt(AT_PARTS), 0, front.capacity() / ENTRY_BYTES);
            front.position(HEAD_BYTES);
            List<RowsSnapshot> parts = new ArrayList<>();
            long end = front.capacity();
            for (int i = 0; i < count; i++) {
                end = readPart(front, end, mergeAfter, parts);
                requireShape(parts.getLast().image(), metric, dimension);
            }
            checks.requireEqual(front.position(), "checksum", front.position(), front.capacity() - CHECKSUM_BYTES);
            checks.requireEqual(end, "length", bytes, end);
            return new LiveTableFile(options, dimension, mergeAfter, parts);
        }

        private ByteBuffer front() throws IOException {
            checks.requireHead(bytes, HEAD_BYTES + CHECKSUM_BYTES, "a live table's head of " + HEAD_BYTES);
            ByteBuffer head = read(0, HEAD_BYTES);
            HnswFormats.LIVE.require(file, head.getLong(0));
            checks.requireVersion(AT_VERSION, head.getInt(AT_VERSION), VERSION);
            // The length is not yet verified by a checksum, so it is bounded before it is allocated.
            int length = checks.requireRange(
                    AT_FRONT_BYTES, "front", head.getInt(AT_FRONT_BYTES), HEAD_BYTES + CHECKSUM_BYTES, (int)
                            Math.min(HEAD_BYTES + CHECKSUM_BYTES + bytes / MIN_IMAGE_PER_ENTRY, Integer.MAX_VALUE));
            ByteBuffer front = read(0, length);
            checks.requireSection(0, "the checksum of its front", MemorySegment.ofBuffer(front));
            return front;
        }

        /** Reads a part that begins on the first page boundary from {@code before}; returns its end offset. */
        private long readPart(ByteBuffer front, long before, int mergeAfter, List<RowsSnapshot> parts)
                throws IOException {
            int entry = front.position();
            requireLeft(front, entry, ENTRY_BYTES);
            long at = front.getLong();
            long length = front.getLong();
            int rows = checks.requireRange(entry, "number of rows", front.getInt(), 1, Integer.MAX_VALUE - Long.SIZE);
            checks.requireEqual(entry, "mark that is not known", front.getInt(), 0);
            checks.requireEqual(entry, "part", at, pageAfter(before));
            if (length < 0 || length > bytes - at) {
                throw checks.fault(
                        entry, "is " + bytes + " bytes long, too short for a part of " + length + " at " + at);
            }
            requireZeroes(before, at);
            long[] alive = readAlive(front, entry, rows);
            GraphImage image = ImageFile.open(file, channel, at, length);
            checks.requireEqual(entry, "number of rows", rows, image.shape().rows());
            if (!LiveRows.hasGraph(image)) {
                checks.requireRange(entry, "number of rows without a graph", rows, 1, mergeAfter);
                requirePlain(entry, image.shape());
            }
            parts.add(new RowsSnapshot(image, rows, alive));
            return at + length;
        }

        /** Rows without a graph are copied one by one, so each must be a node of its own, with only a vector. */
        private void requirePlain(int entry, GraphImage.Shape shape) throws FileFormatException {
            checks.requireEqual(entry, "number of nodes without a graph", shape.nodes(), shape.rows());
            checks.requireEqual(entry, "mark of codes without a graph", shape.coded() ? 1 : 0, 0);
            checks.requireEqual(entry, "number of upper layers without a graph", shape.levelCounts().length, 0);
        }

        private long[] readAlive(ByteBuffer front, int entry, int rows) throws FileFormatException {
            int words = (rows + Long.SIZE - 1) / Long.SIZE;
            requireLeft(front, entry, (long) words * Long.BYTES);
            long[] alive = new long[words];
            for (int word = 0; word < words; word++) {
                alive[word] = front.getLong();
            }
            int inLast = rows - (words - 1) * Long.SIZE;
            if (inLast < Long.SIZE && alive[words - 1] >>> inLast != 0) {
                throw checks.fault(entry, "has rows alive after the last of " + rows);
            }
            return alive;
        }

        private void requireLeft(ByteBuffer front, int at, long length) throws FileFormatException {
            if (length > front.capacity() - CHECKSUM_BYTES - front.position()) {
                throw checks.fault(at, "has a front too short for its parts");
            }
        }

        private void requireShape(GraphImage image, Metric metric, int dimension) throws FileFormatException {
            if (image.shape().metric() != metric || image.shape().dimension() != dimension) {
                throw checks.fault(
                        AT_METRIC,
                        "is of " + dimension + " dimensions under " + metric + ", and has a part of "
                                + image.shape().dimension() + " under "
                                + image.shape().metric());
            }
        }

        private void requireZeroes(long from, long to) throws IOException {
            ByteBuffer between = read(from, (int) (to - from));
            while (between.hasRemaining()) {
                checks.requireEqual(from + between.position(), "byte between its parts", between.get(), 0);
            }
        }

        private ByteBuffer read(long at, int length) throws IOException {
            ByteBuffer into = little(length);
            while (into.hasRemaining()) {
                if (channel.read(into, at + into.position()) < 0) {
                    throw checks.fault(at + into.position(), "ends while it is read");
                }
            }
            return into.flip();
        }
    }
}
