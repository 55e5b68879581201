package io.github.roost.index.hnsw.search;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.index.hnsw.format.HnswFormats;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A graph in one off-heap memory segment: a head with offsets and sizes, one record per node (its vector and its
 * neighbors, so that a visit reads one place), the neighbor lists of the upper layers, and the external ids of each node's rows.
 * In a coded image a record has the vector's codes (see {@link ScalarQuantizer}) instead, which are all that the graph search reads; the vectors, used to
 * rerank its best results, are at the end of the image or elsewhere. Nodes are numbered from the top layer down, so the position
 * of an upper layer's list is computed from the node's number. C reads a copy of the head as {@code struct image}: the image may be a
 * mapped file, which another program can change after it was checked. Written by
 * one thread, or by several that write different nodes; then immutable and thread-safe.
 */
public final class GraphImage {
    /** Max number of layers above layer 0. */
    public static final int MAX_LEVELS = 64;
    /** Max neighbors of a node. */
    public static final int MAX_NEIGHBORS = 512;
    /** Size of the head: a page, so that the records are page-aligned. */
    static final int HEAD_BYTES = 4096;
    /** "ROOSTHNW", little-endian. */
    static final long MAGIC = HnswFormats.TABLE.magic();

    static final int VERSION = 4;
    private static final int CACHE_LINE = 64;
    /** Records are padded to whole cache lines if that adds at most one byte per this many. */
    private static final int PADDING_SHARE = 20;

    static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT_ANYWHERE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT_ANYWHERE =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int AT_MAGIC = 0;
    static final int AT_VERSION = 8;
    static final int AT_METRIC = 12;
    static final int AT_DIMENSION = 16;
    static final int AT_DEGREE = 20;
    static final int AT_UPPER_DEGREE = 24;
    static final int AT_LEVELS = 28;
    static final int AT_NODES = 32;
    static final int AT_ROWS = 40;
    private static final int AT_STRIDE = 48;
    private static final int AT_NODES_AT = 56;
    private static final int AT_UPPER_AT = 64;
    private static final int AT_IDS_AT = 72;
    private static final int AT_GROUPS_AT = 80;
    static final int AT_BYTES = 88;
    static final int AT_EXPONENT = 96;
    static final int AT_LARGEST = 100;
    static final int AT_CODED = 104;
    private static final int AT_LINKS_IN = 108;
    private static final int AT_VECTORS_AT = 112;
    private static final int AT_VECTOR_STRIDE = 120;
    private static final int AT_TERMS_AT = 128;
    private static final int AT_QUANTIZER_AT = 136;
    static final int AT_LEVEL_COUNTS = 144;
    /** In the head that C reads: the address of the image. */
    private static final int AT_BASE = AT_LEVEL_COUNTS + MAX_LEVELS * Integer.BYTES;

    private final MemorySegment memory;
    private final MemorySegment head;
    private final Shape shape;
    private final long stride;
    private final long linksIn;
    private final long vectorsAt;
    private final long vectorStride;
    private final long upperAt;
    private final long idsAt;
    private final long groupsAt;
    private final long termsAt;
    /** Offset of each upper layer's neighbor lists, layer 1 first. */
    private final long[] layerAt;

    /** The forms in which an image stores vectors. Files contain the ordinals of these constants, so their order must not change. */
    public enum Content {
        /** Vectors, read by graph searches. */
        VECTORS,
        /** Codes, read by graph searches, and vectors, read by the rerank. */
        CODES_AND_VECTORS,
        /** Codes only. Each node is one row, and its id consists of an ordinal and a label, as it may in an image of vectors. */
        CODES
    }

    /**
     * The parameters that determine the layout of an image.
     *
     * @param metric the metric
     * @param content the form of the vectors
     * @param dimension components per vector
     * @param degree max neighbors of a node in layer 0; 0 for rows without a graph
     * @param upperDegree max neighbors of a node in an upper layer
     * @param nodes number of nodes
     * @param rows number of external ids, at least {@code nodes}; more if nodes stand for several equal rows
     * @param exponent the rows were multiplied by two to this power
     * @param largest binary exponent of the rows' largest value after scaling
     * @param levelCounts number of nodes of each upper layer, layer 1 first
     */
    public record Shape(
            Metric metric,
            Content content,
            int dimension,
            int degree,
            int upperDegree,
            int nodes,
            int rows,
            int exponent,
            int largest,
            int[] levelCounts) {
        /** A shape with vectors, and with codes if {@code coded}. */
        public Shape(
                Metric metric,
                boolean coded,
                int dimension,
                int degree,
                int upperDegree,
                int nodes,
                int rows,
                int exponent,
                int largest,
                int[] levelCounts) {
            this(
                    metric,
                    coded ? Content.CODES_AND_VECTORS : Content.VECTORS,
                    dimension,
                    degree,
                    upperDegree,
                    nodes,
                    rows,
                    exponent,
                    largest,
                    levelCounts);
        }

        /** The shape of a graph of the same vectors and links, with codes for graph searches. */
        public Shape withCodes() {
            return new Shape(metric, true, dimension, degree, upperDegree, nodes, rows, exponent, largest, levelCounts);
        }

        /** Whether graph searches read codes instead of vectors. */
        public boolean coded() {
            return content == Content.CODES_AND_VECTORS || content == Content.CODES;
        }

        /** Whether the vectors are in the image. */
        public boolean hasVectors() {
            return content != Content.CODES;
        }

        /** Bytes per record: whole cache lines if the padding is small, or if kernels read whole lines. */
        long stride() {
            long bytes = linksIn() + (long) degree * Integer.BYTES;
            return content == Content.VECTORS ? padded(bytes) : aligned(bytes, CACHE_LINE);
        }

        /** Offset of the neighbor list in a record. */
        long linksIn() {
            return coded() ? aligned(dimension, Integer.BYTES) : (long) dimension * Float.BYTES;
        }

        long upperLists() {
            return Arrays.stream(levelCounts).asLongStream().sum();
        }

        long upperAt() {
            return HEAD_BYTES + nodes * stride();
        }

        long idsAt() {
            return aligned(upperAt() + upperLists() * upperDegree * Integer.BYTES, Long.BYTES);
        }

        long groupsAt() {
            return rows == nodes ? 0 : idsAt() + (long) rows * Long.BYTES;
        }

        private long idsEnd() {
            long ids = idsAt() + (long) rows * Long.BYTES;
            return aligned(rows == nodes ? ids : ids + (nodes + 1L) * Integer.BYTES, Long.BYTES);
        }

        /**
         * Offset of two floats per node: the term, which is the part of its distance that does not depend on the query, and the scale of
         * its codes. 0 without codes.
         */
        long termsAt() {
            return coded() ? idsEnd() : 0;
        }

        /** Offset of the center of the codes, one float per dimension. 0 without codes. */
        long quantizerAt() {
            return coded() ? idsEnd() + 2L * nodes * Float.BYTES : 0;
        }

        /** Offset of the first vector; 0 if there are none. */
        long vectorsAt() {
            return switch (content) {
                case VECTORS -> HEAD_BYTES;
                case CODES_AND_VECTORS -> aligned(centerEnd(), CACHE_LINE);
                case CODES -> 0;
            };
        }

        long vectorStride() {
            return switch (content) {
                case VECTORS -> stride();
                case CODES_AND_VECTORS -> padded((long) dimension * Float.BYTES);
                case CODES -> 0;
            };
        }

        /** Size of the image in bytes. */
        public long bytes() {
            return switch (content) {
                case VECTORS -> idsEnd();
                case CODES_AND_VECTORS -> aligned(vectorsAt() + nodes * vectorStride(), Long.BYTES);
                case CODES -> aligned(centerEnd(), Long.BYTES);
            };
        }

        private long centerEnd() {
            return quantizerAt() + (long) dimension * Float.BYTES;
        }

        private static long padded(long bytes) {
            long whole = aligned(bytes, CACHE_LINE);
            return whole - bytes <= bytes / PADDING_SHARE ? whole : bytes;
        }

        private static long aligned(long at, long unit) {
            return (at + unit - 1) / unit * unit;
        }
    }

    GraphImage(MemorySegment memory, Shape shape) {
        this.memory = memory;
        this.shape = shape;
        this.stride = shape.stride();
        this.linksIn = shape.linksIn();
        this.vectorsAt = shape.vectorsAt();
        this.vectorStride = shape.vectorStride();
        this.upperAt = shape.upperAt();
        this.idsAt = shape.idsAt();
        this.groupsAt = shape.groupsAt();
        this.termsAt = shape.termsAt();
        this.layerAt = new long[shape.levelCounts().length];
        long at = upperAt;
        for (int layer = 0; layer < layerAt.length; layer++) {
            layerAt[layer] = at;
            at += (long) shape.levelCounts()[layer] * shape.upperDegree() * Integer.BYTES;
        }
        MemorySegment mine = Arena.ofAuto().allocate(AT_BASE + ADDRESS.byteSize(), Long.BYTES);
        writeHead(mine);
        mine.set(ADDRESS, AT_BASE, memory);
        this.head = mine.asReadOnly();
    }

    /** Allocates an image on huge pages if available; freed by the garbage collector. */
    public static GraphImage allocate(Shape shape) {
        return allocate(shape, Arena.ofAuto());
    }

    /**
     * As {@link #allocate(Shape)}; freed when the arena closes.
     *
     * @throws IllegalArgumentException if there are more than {@value #MAX_LEVELS} upper layers
     */
    public static GraphImage allocate(Shape shape, Arena arena) {
        if (shape.levelCounts().length > MAX_LEVELS) {
            throw new IllegalArgumentException(
                    "a graph must have at most " + MAX_LEVELS + " upper layers, got " + shape.levelCounts().length);
        }
        GraphImage image = new GraphImage(DomainMemory.allocate(shape.bytes(), arena), shape);
        image.writeHead(image.memory);
        return image;
    }

    /** Whether an image at the start of this memory can be searched in place, also by C: off-heap and aligned to 8 bytes. */
    public static boolean canLieAt(MemorySegment memory) {
        return memory.isNative() && memory.address() % Long.BYTES == 0;
    }

    private void writeHead(MemorySegment to) {
        to.set(LONG, AT_MAGIC, MAGIC);
        to.set(INT, AT_VERSION, VERSION);
        to.set(INT, AT_METRIC, shape.metric().ordinal());
        to.set(INT, AT_DIMENSION, shape.dimension());
        to.set(INT, AT_DEGREE, shape.degree());
        to.set(INT, AT_UPPER_DEGREE, shape.upperDegree());
        to.set(INT, AT_LEVELS, layerAt.length);
        to.set(LONG, AT_NODES, shape.nodes());
        to.set(LONG, AT_ROWS, shape.rows());
        to.set(LONG, AT_STRIDE, stride);
        to.set(LONG, AT_NODES_AT, HEAD_BYTES);
        to.set(LONG, AT_UPPER_AT, upperAt);
        to.set(LONG, AT_IDS_AT, idsAt);
        to.set(LONG, AT_GROUPS_AT, groupsAt);
        to.set(LONG, AT_BYTES, shape.bytes());
        to.set(INT, AT_EXPONENT, shape.exponent());
        to.set(INT, AT_LARGEST, shape.largest());
        to.set(INT, AT_CODED, shape.content().ordinal());
        to.set(INT, AT_LINKS_IN, (int) linksIn);
        to.set(LONG, AT_VECTORS_AT, vectorsAt);
        to.set(LONG, AT_VECTOR_STRIDE, vectorStride);
        to.set(LONG, AT_TERMS_AT, shape.termsAt());
        to.set(LONG, AT_QUANTIZER_AT, shape.quantizerAt());
        for (int layer = 0; layer < layerAt.length; layer++) {
            to.set(INT, AT_LEVEL_COUNTS + (long) layer * Integer.BYTES, shape.levelCounts()[layer]);
        }
    }

    /** Reads the shape from a head. Dimension, degrees, scale and the level counts are not range-checked yet. */
    static Shape readShape(Path file, MemorySegment memory) throws FileFormatException {
        int levels = memory.get(INT, AT_LEVELS);
        ImageFile.requireRange(file, AT_LEVELS, "number of upper layers", levels, 0, MAX_LEVELS);
        int[] levelCounts = new int[levels];
        MemorySegment.copy(memory, INT, AT_LEVEL_COUNTS, levelCounts, 0, levels);
        return new Shape(
                ImageFile.metric(file, memory.get(INT, AT_METRIC)),
                ImageFile.content(file, memory.get(INT, AT_CODED)),
                memory.get(INT, AT_DIMENSION),
                memory.get(INT, AT_DEGREE),
                memory.get(INT, AT_UPPER_DEGREE),
                count(file, memory, AT_NODES),
                count(file, memory, AT_ROWS),
                memory.get(INT, AT_EXPONENT),
                memory.get(INT, AT_LARGEST),
                levelCounts);
    }

    private static int count(Path file, MemorySegment memory, int at) throws FileFormatException {
        long count = memory.get(LONG, at);
        ImageFile.requireRange(file, at, "count", count, 1, Integer.MAX_VALUE - 8);
        return (int) count;
    }

    /** Checks that the offsets and sizes in a head are the ones that the shape determines. */
    static void requireSameHead(Path file, MemorySegment memory, Shape shape) throws FileFormatException {
        requireSame(file, memory, AT_STRIDE, shape.stride());
        requireSame(file, memory, AT_NODES_AT, HEAD_BYTES);
        requireSame(file, memory, AT_UPPER_AT, shape.upperAt());
        requireSame(file, memory, AT_IDS_AT, shape.idsAt());
        requireSame(file, memory, AT_GROUPS_AT, shape.groupsAt());
        requireSame(file, memory, AT_BYTES, shape.bytes());
        ImageFile.requireRange(
                file,
                AT_LINKS_IN,
                "size or place in its head",
                memory.get(INT, AT_LINKS_IN),
                shape.linksIn(),
                shape.linksIn());
        requireSame(file, memory, AT_VECTORS_AT, shape.vectorsAt());
        requireSame(file, memory, AT_VECTOR_STRIDE, shape.vectorStride());
        requireSame(file, memory, AT_TERMS_AT, shape.termsAt());
        requireSame(file, memory, AT_QUANTIZER_AT, shape.quantizerAt());
    }

    private static void requireSame(Path file, MemorySegment memory, int at, long expected) throws FileFormatException {
        long said = memory.get(LONG, at);
        ImageFile.requireRange(file, at, "size or place in its head", said, expected, expected);
    }

    /** The shape of the image. */
    public Shape shape() {
        return shape;
    }

    /** Size of the image in bytes. */
    public long bytes() {
        return memory.byteSize();
    }

    /** Bytes of a vector. */
    long vectorBytes() {
        return (long) shape.dimension() * Float.BYTES;
    }

    /** Bytes that a graph search reads per distance. */
    public long searchedBytes() {
        return shape.coded() ? shape.dimension() : vectorBytes();
    }

    /** The head that C reads, which stays the same if the image's memory is changed. Valid while the memory is. */
    MemorySegment head() {
        return head;
    }

    /** The memory of the image. */
    public MemorySegment memory() {
        return memory;
    }

    /** Layers above layer 0. */
    public int levels() {
        return layerAt.length;
    }

    private long recordAt(int node) {
        return HEAD_BYTES + node * stride;
    }

    private long neighborsAt(int node) {
        return recordAt(node) + linksIn;
    }

    /** Offset of a node's vector. */
    long vectorAt(int node) {
        return vectorsAt + node * vectorStride;
    }

    private long upperListAt(int layer, int node) {
        return layerAt[layer - 1] + (long) node * shape.upperDegree() * Integer.BYTES;
    }

    /** Writes a node's vector from the first values of an array. */
    public void setVector(int node, float[] values) {
        MemorySegment.copy(values, 0, memory, FLOAT_ANYWHERE, vectorAt(node), shape.dimension());
    }

    private float[] vector(int node) {
        float[] values = new float[shape.dimension()];
        vector(node, values);
        return values;
    }

    /** Copies a node's vector into an array. */
    public void vector(int node, float[] into) {
        MemorySegment.copy(memory, FLOAT_ANYWHERE, vectorAt(node), into, 0, shape.dimension());
    }

    /** Copies the bits of a node's vector into an array. */
    void vectorBits(int node, int[] into) {
        MemorySegment.copy(memory, INT_ANYWHERE, vectorAt(node), into, 0, shape.dimension());
    }

    /**
     * If the image is coded, computes and writes its codes from its vectors, all of which must be set; returns this.
     *
     * @param betweenNodes runs once per node
     */
    public GraphImage encode(Runnable betweenNodes) {
        if (!shape.coded()) {
            return this;
        }
        ScalarQuantizer quantizer = ScalarQuantizer.of(Arrays.stream(ScalarQuantizer.sample(shape.nodes()))
                .mapToObj(this::vector)
                .toArray(float[][]::new));
        setQuantizer(quantizer);
        float[] vector = new float[shape.dimension()];
        byte[] codes = new byte[vector.length];
        for (int node = 0; node < shape.nodes(); node++) {
            betweenNodes.run();
            vector(node, vector);
            float scale = quantizer.encode(vector, codes);
            float term = quantizer.term(shape.metric() == Metric.INNER_PRODUCT, codes, scale);
            setCodes(node, MemorySegment.ofArray(codes), 0, term, scale);
        }
        return this;
    }

    /**
     * Copies a node's neighbors in every layer, its first row and its rows' ids from another image.
     *
     * @param from an image with the same numbers of nodes, rows and layers
     * @param room scratch space for {@code from}'s degree
     */
    public void copyLinksAndRows(GraphImage from, int node, int[] room) {
        for (int layer = 0; layer <= levels() && node < nodes(layer); layer++) {
            int count = 0;
            while (count < from.degree(layer) && from.neighbor(layer, node, count) >= 0) {
                room[count] = from.neighbor(layer, node, count);
                count++;
            }
            setNeighbors(layer, node, room, count);
        }
        setFirstRow(node, from.firstRow(node));
        for (int row = from.firstRow(node); row < from.firstRow(node + 1); row++) {
            setId(row, from.id(row));
        }
    }

    /** Copies a node's codes into an array. */
    void codes(int node, byte[] into) {
        MemorySegment.copy(memory, JAVA_BYTE, recordAt(node), into, 0, shape.dimension());
    }

    /** Copies a node's codes from offset {@code at} of other memory, and writes their term and scale. */
    public void setCodes(int node, MemorySegment codes, long at, float term, float scale) {
        MemorySegment.copy(codes, at, memory, recordAt(node), shape.dimension());
        memory.set(FLOAT_ANYWHERE, termAt(node), term);
        memory.set(FLOAT_ANYWHERE, termAt(node) + Float.BYTES, scale);
    }

    /** Offset of a node's term and scale. */
    long termAt(int node) {
        return termsAt + 2L * node * Float.BYTES;
    }

    /** Copies the terms and scales of some nodes, in pairs. */
    void termsAndScales(int from, int count, float[] into) {
        MemorySegment.copy(memory, FLOAT_ANYWHERE, termAt(from), into, 0, 2 * count);
    }

    /** The part of a node's distance by codes that does not depend on the query. */
    float term(int node) {
        return memory.get(FLOAT_ANYWHERE, termAt(node));
    }

    /** The scale of a node's codes. */
    float scale(int node) {
        return memory.get(FLOAT_ANYWHERE, termAt(node) + Float.BYTES);
    }

    /** Writes the meaning of the codes. */
    public void setQuantizer(ScalarQuantizer quantizer) {
        MemorySegment.copy(quantizer.center(), 0, memory, FLOAT_ANYWHERE, shape.quantizerAt(), shape.dimension());
    }

    /** A copy of the center of the codes. */
    float[] center() {
        return memory.asSlice(shape.quantizerAt(), vectorBytes()).toArray(FLOAT_ANYWHERE);
    }

    /**
     * Writes the first {@code count} elements of an array as a node's neighbors in a layer.
     *
     * @throws IllegalArgumentException if there are more than {@link #degree}
     */
    public void setNeighbors(int layer, int node, int[] neighbors, int count) {
        int max = degree(layer);
        if (count > max) {
            throw new IllegalArgumentException(
                    "a node of layer " + layer + " must have at most " + max + " neighbors, got " + count);
        }
        long at = neighborAt(layer, node, 0);
        MemorySegment.copy(neighbors, 0, memory, INT_ANYWHERE, at, count);
        for (int i = count; i < max; i++) {
            memory.set(INT_ANYWHERE, at + (long) i * Integer.BYTES, -1);
        }
    }

    /** Writes one neighbor of a node in a layer, in the place of another one or behind the last. */
    void setNeighbor(int layer, int node, int i, int neighbor) {
        memory.set(INT_ANYWHERE, neighborAt(layer, node, i), neighbor);
    }

    /** Max neighbors of a node in a layer. */
    public int degree(int layer) {
        return layer == 0 ? shape.degree() : shape.upperDegree();
    }

    /** Number of nodes of a layer. */
    public int nodes(int layer) {
        return layer == 0 ? shape.nodes() : shape.levelCounts()[layer - 1];
    }

    /** Offset of neighbor {@code i} of a node in a layer. */
    public long neighborAt(int layer, int node, int i) {
        return (layer == 0 ? neighborsAt(node) : upperListAt(layer, node)) + (long) i * Integer.BYTES;
    }

    /** Neighbor {@code i} of a node in a layer, or -1 after the last. */
    public int neighbor(int layer, int node, int i) {
        return memory.get(INT_ANYWHERE, neighborAt(layer, node, i));
    }

    /** Copies the neighbors of a node in a layer, -1 after the last, up to the layer's degree. */
    void neighbors(int layer, int node, int[] into) {
        MemorySegment.copy(memory, INT_ANYWHERE, neighborAt(layer, node, 0), into, 0, degree(layer));
    }

    /** Writes the external id of a row. The rows of one node are consecutive, in the order of the nodes. */
    public void setId(int row, long id) {
        memory.set(LONG, idsAt + (long) row * Long.BYTES, id);
    }

    /** The external id of a row. */
    public long id(int row) {
        return memory.get(LONG, idsAt + (long) row * Long.BYTES);
    }

    /** Writes a node's ordinal and label, both 0 or more, in an image of one row per node. */
    public void setOrdinalAndLabel(int node, int ordinal, int label) {
        setId(node, (long) label << Integer.SIZE | ordinal);
    }

    /** A node's ordinal; not range-checked. */
    public int ordinal(int node) {
        return (int) id(node);
    }

    /** A node's label, by which a {@linkplain NodeSet#ofLabels filter} identifies it; not range-checked. */
    public int label(int node) {
        return (int) (id(node) >>> Integer.SIZE);
    }

    /** Whether any node has several rows. */
    public boolean hasGroups() {
        return groupsAt != 0;
    }

    /** Writes the first row of a node; for {@code node} equal to the number of nodes, the number of rows. */
    public void setFirstRow(int node, int row) {
        if (hasGroups()) {
            memory.set(INT, groupsAt + (long) node * Integer.BYTES, row);
        }
    }

    /** The first row of a node; its rows end before the first of the next node. */
    public int firstRow(int node) {
        return hasGroups() ? memory.get(INT, groupsAt + (long) node * Integer.BYTES) : node;
    }

    /** The node of a row. */
    public int nodeOf(int row) {
        if (!hasGroups()) {
            return row;
        }
        int low = 0;
        int high = shape.nodes() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (firstRow(middle) <= row) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
