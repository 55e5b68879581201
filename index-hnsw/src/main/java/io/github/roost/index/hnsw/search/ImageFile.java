package io.github.roost.index.hnsw.search;

import io.github.roost.index.hnsw.format.HnswFormats;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.SectionWriter;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * The file format of an image: the bytes of the image, then a checksum of them. {@link #save} replaces a file atomically: at any
 * time either the old or the new file is there, complete. Everything in a file is validated before use, because C follows its
 * numbers without checks. Stateless.
 */
public final class ImageFile {
    /** Max absolute binary exponent that rows are multiplied by, to bring the smallest or largest floats to the scale of tables. */
    private static final int MAX_EXPONENT = 156;
    /** Binary exponent of the largest value that rows are scaled to, a few of very other size included. */
    private static final int MAX_LARGEST = 80;
    /** Nodes whose terms and scales are read at once. */
    private static final int CHECKED_TOGETHER = 512;

    private static final int LARGEST_FINITE = Float.floatToRawIntBits(Float.MAX_VALUE);

    private ImageFile() {}

    /** Writes a file, replacing any file of that name atomically, as {@link WholeFile} does. */
    public static void save(GraphImage image, Path file) throws IOException {
        WholeFile.replace(file, channel -> write(image, channel));
    }

    /** Writes an image and its checksum at the channel's position; returns the number of bytes. */
    public static long write(GraphImage image, FileChannel channel) throws IOException {
        SectionWriter section = new SectionWriter(channel);
        section.put(image.memory());
        return section.end(1);
    }

    /**
     * Maps a file into memory and reads all of it once to verify it.
     *
     * @throws FileFormatException if the file has another format or version, or is truncated or damaged
     */
    public static GraphImage open(Path file) throws IOException {
        try (FileChannel channel = TableFormat.open(file)) {
            return open(file, channel, 0, channel.size());
        }
    }

    /**
     * As {@link #open(Path)}, for an image that is part of a file.
     *
     * @param at offset of the image, a multiple of 4,096
     * @param bytes length of the image with its checksum; must not extend beyond the file
     */
    public static GraphImage open(Path file, FileChannel channel, long at, long bytes) throws IOException {
        try {
            return checked(file, bytes, channel.map(FileChannel.MapMode.READ_ONLY, at, bytes, Arena.ofAuto()));
        } catch (FileFormatException e) {
            throw at == 0 ? e : e.inPartAt(at);
        }
    }

    /**
     * As {@link #open(Path)}, but copies the image to private memory, on huge pages if available; the file may be modified afterwards.
     * Freed by the garbage collector.
     *
     * @throws FileFormatException if the file has another format or version, or is truncated or damaged
     */
    public static GraphImage load(Path file) throws IOException {
        GraphImage mapped = open(file);
        MemorySegment memory = DomainMemory.allocate(mapped.bytes(), Arena.ofAuto());
        memory.copyFrom(mapped.memory());
        return new GraphImage(memory.asReadOnly(), mapped.shape());
    }

    private static GraphImage checked(Path file, long bytes, MemorySegment mapped) throws FileFormatException {
        requireHead(file, bytes, GraphImage.HEAD_BYTES + SectionWriter.CHECKSUM_BYTES);
        checkHead(file, mapped.asSlice(0, bytes - SectionWriter.CHECKSUM_BYTES));
        MemorySegment memory = new FileChecks(file).requireSection(0, "its checksum", mapped);
        int content = memory.get(GraphImage.INT, GraphImage.AT_CODED);
        if (content == GraphImage.Content.CODES.ordinal()) {
            throw new FileFormatException(
                    file,
                    GraphImage.AT_CODED,
                    "has a mark of codes of " + content + ": a graph without vectors is not a table");
        }
        GraphImage image = new GraphImage(memory.asReadOnly(), checkedShape(file, memory));
        checkNodes(file, image);
        return image;
    }

    /**
     * Opens an image of a graph whose nodes have labels in place, in memory that the caller has mapped: of codes, or of vectors.
     * Validates only the head, and the center of the codes; searches check the neighbors and labels that they read.
     *
     * @param file the image's name in messages
     * @param memory exactly the image's bytes, aligned to 8 bytes
     * @throws FileFormatException if it is not such an image, or of another version, or its head does not match its size
     */
    public static GraphImage openLabeled(Path file, MemorySegment memory) throws FileFormatException {
        GraphImage image = head(file, memory);
        GraphImage.Shape shape = image.shape();
        requireRange(file, GraphImage.AT_ROWS, "number of rows", shape.rows(), shape.nodes(), shape.nodes());
        if (shape.coded()) {
            requireContent(file, shape, GraphImage.Content.CODES);
            checkCenter(file, image);
        }
        return image;
    }

    /**
     * Opens an image in place, in memory whose checksum the caller has verified. Validates only the head; searches check the
     * neighbors that they read.
     *
     * @param file the image's name in messages
     * @param memory exactly the image's bytes, aligned to 8 bytes
     * @param content the expected content
     * @throws FileFormatException if it is not such an image, or of another version, or its head does not match its size
     */
    public static GraphImage openInPlace(Path file, MemorySegment memory, GraphImage.Content content)
            throws FileFormatException {
        GraphImage image = head(file, memory);
        requireContent(file, image.shape(), content);
        return image;
    }

    private static GraphImage head(Path file, MemorySegment memory) throws FileFormatException {
        requireHead(file, memory.byteSize(), GraphImage.HEAD_BYTES);
        checkHead(file, memory);
        return new GraphImage(memory.asReadOnly(), checkedShape(file, memory));
    }

    private static void requireContent(Path file, GraphImage.Shape shape, GraphImage.Content content)
            throws FileFormatException {
        int expected = content.ordinal();
        requireRange(file, GraphImage.AT_CODED, "mark of codes", shape.content().ordinal(), expected, expected);
    }

    private static void requireHead(Path file, long bytes, long min) throws FileFormatException {
        new FileChecks(file).requireHead(bytes, min, "a table's head of " + GraphImage.HEAD_BYTES);
    }

    private static void checkHead(Path file, MemorySegment memory) throws FileFormatException {
        HnswFormats.TABLE.require(file, memory.get(GraphImage.LONG, GraphImage.AT_MAGIC));
        new FileChecks(file)
                .requireVersion(
                        GraphImage.AT_VERSION, memory.get(GraphImage.INT, GraphImage.AT_VERSION), GraphImage.VERSION);
        long said = memory.get(GraphImage.LONG, GraphImage.AT_BYTES);
        if (said != memory.byteSize()) {
            throw new FileFormatException(
                    file,
                    Math.max(0, Math.min(said, memory.byteSize())),
                    "holds a table of " + memory.byteSize() + " bytes, its head says " + said);
        }
    }

    /** Validates the shape: the checksum detects only accidental damage, not a file that another program wrote. */
    private static GraphImage.Shape checkedShape(Path file, MemorySegment memory) throws FileFormatException {
        GraphImage.Shape shape = GraphImage.readShape(file, memory);
        requireRange(file, GraphImage.AT_DIMENSION, "dimension", shape.dimension(), 1, Vectors.MAX_DIMENSIONS);
        requireRange(file, GraphImage.AT_DEGREE, "degree", shape.degree(), 0, GraphImage.MAX_NEIGHBORS);
        requireRange(file, GraphImage.AT_UPPER_DEGREE, "degree above", shape.upperDegree(), 0, shape.degree());
        requireRange(file, GraphImage.AT_NODES, "number of nodes", shape.nodes(), 1, Integer.MAX_VALUE - 8);
        requireRange(file, GraphImage.AT_ROWS, "number of rows", shape.rows(), shape.nodes(), Integer.MAX_VALUE - 8);
        for (int layer = 0; layer < shape.levelCounts().length; layer++) {
            requireRange(
                    file,
                    GraphImage.AT_LEVEL_COUNTS + layer * Integer.BYTES,
                    "nodes of layer " + (layer + 1),
                    shape.levelCounts()[layer],
                    1,
                    layer == 0 ? shape.nodes() : shape.levelCounts()[layer - 1]);
        }
        GraphImage.requireSameHead(file, memory, shape);
        checkScale(file, shape);
        return shape;
    }

    /** Validates the scale: with an exponent out of range, distances would underflow to 0 or overflow to infinity. */
    private static void checkScale(Path file, GraphImage.Shape shape) throws FileFormatException {
        boolean scaled = shape.metric() != Metric.COSINE;
        int max = scaled ? MAX_EXPONENT : 0;
        requireRange(file, GraphImage.AT_EXPONENT, "power of two", shape.exponent(), -max, max);
        requireRange(file, GraphImage.AT_LARGEST, "largest power of two", shape.largest(), 0, scaled ? MAX_LARGEST : 0);
    }

    static void requireRange(Path file, int at, String what, long value, long min, long max)
            throws FileFormatException {
        new FileChecks(file).requireRange(at, what, value, min, max);
    }

    private static void checkNodes(Path file, GraphImage image) throws FileFormatException {
        GraphImage.Shape shape = image.shape();
        for (int layer = 0; layer <= image.levels(); layer++) {
            int nodes = layer == 0 ? shape.nodes() : shape.levelCounts()[layer - 1];
            int[] list = new int[image.degree(layer)];
            for (int node = 0; node < nodes; node++) {
                image.neighbors(layer, node, list);
                if (!areWithin(list, nodes)) {
                    throw badNeighbor(file, image, layer, node, list);
                }
            }
        }
        checkVectors(file, image);
        if (image.hasGroups()) {
            checkGroups(file, image);
        }
        if (shape.coded()) {
            checkCodes(file, image);
        }
    }

    /** Whether each is a node, or -1. */
    private static boolean areWithin(int[] list, int nodes) {
        // The min and max of integers are vectorized; a search for the first that is wrong is not.
        int least = 0;
        int most = 0;
        for (int neighbor : list) {
            least = Math.min(least, neighbor + 1);
            most = Math.max(most, neighbor + 1);
        }
        return least == 0 && most <= nodes;
    }

    private static FileFormatException badNeighbor(Path file, GraphImage image, int layer, int node, int[] list) {
        int nodes = image.nodes(layer);
        int i = 0;
        while (list[i] >= -1 && list[i] < nodes) {
            i++;
        }
        return new FileFormatException(
                file,
                image.neighborAt(layer, node, i),
                "has neighbor " + list[i] + " of node " + node + " in layer " + layer + ", which has " + nodes
                        + " nodes");
    }

    /** Requires finite vectors: with NaN or infinity the order of distances would be arbitrary. */
    private static void checkVectors(Path file, GraphImage image) throws FileFormatException {
        int[] bits = new int[image.shape().dimension()];
        for (int node = 0; node < image.shape().nodes(); node++) {
            image.vectorBits(node, bits);
            if (largestMagnitude(bits) > LARGEST_FINITE) {
                for (int i = 0; i < bits.length; i++) {
                    float value = Float.intBitsToFloat(bits[i]);
                    requireNumber(file, image.vectorAt(node), i, "value of a node", value, -Float.MAX_VALUE);
                }
            }
        }
    }

    /** The max of integer bits is vectorized; a comparison of floats is not. A method of its own is compiled after a few vectors. */
    private static int largestMagnitude(int[] bits) {
        int largest = 0;
        for (int value : bits) {
            largest = Math.max(largest, value & Integer.MAX_VALUE);
        }
        return largest;
    }

    /** Requires finite terms, scales and center: otherwise distances by codes would be NaN or infinite. */
    private static void checkCodes(Path file, GraphImage image) throws FileFormatException {
        float[] pairs = new float[2 * CHECKED_TOGETHER];
        for (int from = 0; from < image.shape().nodes(); from += CHECKED_TOGETHER) {
            int count = Math.min(CHECKED_TOGETHER, image.shape().nodes() - from);
            image.termsAndScales(from, count, pairs);
            for (int i = 0; i < count; i++) {
                long at = image.termAt(from + i);
                requireNumber(file, at, 0, "term of a node", pairs[2 * i], -Float.MAX_VALUE);
                requireNumber(file, at, 1, "scale of a node", pairs[2 * i + 1], 0);
            }
        }
        checkCenter(file, image);
    }

    private static void checkCenter(Path file, GraphImage image) throws FileFormatException {
        float[] center = image.center();
        for (int i = 0; i < center.length; i++) {
            requireNumber(file, image.shape().quantizerAt(), i, "center of codes", center[i], -Float.MAX_VALUE);
        }
    }

    private static void requireNumber(Path file, long from, long ordinal, String what, float value, float min)
            throws FileFormatException {
        new FileChecks(file).requireFinite(from + ordinal * Float.BYTES, what, value, min);
    }

    private static void checkGroups(Path file, GraphImage image) throws FileFormatException {
        int nodes = image.shape().nodes();
        boolean fits =
                image.firstRow(0) == 0 && image.firstRow(nodes) == image.shape().rows();
        for (int node = 0; fits && node < nodes; node++) {
            fits = image.firstRow(node) < image.firstRow(node + 1);
        }
        if (!fits) {
            throw new FileFormatException(
                    file, image.shape().groupsAt(), "does not share its rows out among its nodes");
        }
    }

    static GraphImage.Content content(Path file, int ordinal) throws FileFormatException {
        requireRange(file, GraphImage.AT_CODED, "mark of codes", ordinal, 0, GraphImage.Content.values().length - 1);
        return GraphImage.Content.values()[ordinal];
    }

    static Metric metric(Path file, int ordinal) throws FileFormatException {
        requireRange(file, GraphImage.AT_METRIC, "metric", ordinal, 0, Metric.values().length - 1);
        return Metric.values()[ordinal];
    }
}
