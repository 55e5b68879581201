package io.github.roost.index.hnsw.graph;

import io.github.roost.core.Metric;
import io.github.roost.core.TableFileException;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphLinks;
import io.github.roost.index.hnsw.walk.GraphNumbering;
import io.github.roost.index.hnsw.walk.ImageFile;
import io.github.roost.index.hnsw.walk.WalkPlan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A graph with the codes of its vectors in one piece of memory, which may be a part of a mapped file. The vectors themselves
 * are elsewhere: a search gives ordinals, by which its caller finds them, nearest first by code; to compare them exactly is
 * the caller's part. Immutable; thread-safe.
 *
 * <p>A node has two numbers besides its own, which only the graph uses: an ordinal, where its vector is, and a label, by which
 * filters know it (in Lucene, the ordinal of a vector and its document).
 */
public final class CodedGraph {
    /** The most neighbours that a node of layer 0 may have. */
    public static final int MAX_NEIGHBORS = GraphImage.MAX_NEIGHBORS;

    /** At most this many bytes are handed over at once. */
    private static final int PIECE = 1 << 20;

    private final Path name;
    private final GraphImage image;

    private CodedGraph(Path name, GraphImage image) {
        this.name = name;
        this.image = image;
    }

    /** Where a graph is written to. */
    @FunctionalInterface
    public interface Output {
        /**
         * Appends bytes.
         *
         * @param piece all that remains in it
         * @throws IOException if they cannot be written; ends the writing
         */
        void write(ByteBuffer piece) throws IOException;
    }

    /**
     * Writes a graph. Where it will be opened must begin at a multiple of 8, best of 64.
     *
     * @param links the graph, over the rows
     * @param degree most neighbours of a row in layer 0, from 1, of which upper layers have half; of more, and of more than
     *     {@link #MAX_NEIGHBORS}, the nearest are written
     * @param rows the codes of its rows
     * @param ordinals from a row to its ordinal, 0 or more
     * @param labels from a row to its label, 0 or more
     * @param output what it is written to
     * @return how many bytes were written
     * @throws IOException what the output throws
     */
    public static long write(
            BuiltGraph links,
            int degree,
            CodedRows rows,
            IntUnaryOperator ordinals,
            IntUnaryOperator labels,
            Output output)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            GraphImage image = image(links, degree, rows, ordinals, labels, arena);
            write(image.memory(), output);
            return image.bytes();
        }
    }

    /**
     * Lays a graph out in memory, to be searched there.
     *
     * @param links the graph, over the rows
     * @param degree most neighbours of a row in layer 0, from 1, of which upper layers have half; of more, and of more than
     *     {@link #MAX_NEIGHBORS}, the first are kept
     * @param rows the codes of its rows, which may be freed afterwards
     * @param ordinals from a row to its ordinal, 0 or more
     * @param labels from a row to its label, 0 or more
     * @param arena that the memory is of; must be open while the graph is searched, from whichever thread
     * @return the graph
     */
    public static CodedGraph of(
            BuiltGraph links,
            int degree,
            CodedRows rows,
            IntUnaryOperator ordinals,
            IntUnaryOperator labels,
            Arena arena) {
        return new CodedGraph(Path.of("graph"), image(links, degree, rows, ordinals, labels, arena));
    }

    private static GraphImage image(
            BuiltGraph links,
            int degree,
            CodedRows rows,
            IntUnaryOperator ordinals,
            IntUnaryOperator labels,
            Arena arena) {
        GraphLinks graph = new Links(links);
        int most = Math.min(degree, MAX_NEIGHBORS);
        GraphNumbering numbering = new GraphNumbering(graph, rows.rows(), degree, () -> {});
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(
                        rows.table().metric(),
                        GraphImage.Content.CODES,
                        rows.table().dimension(),
                        most,
                        (most + 1) / 2,
                        rows.rows(),
                        rows.rows(),
                        0,
                        0,
                        numbering.levelCounts()),
                arena);
        rows.table().copyMeaning(image);
        int[] room = new int[degree];
        for (int node = 0; node < rows.rows(); node++) {
            int row = numbering.inGraph(node);
            rows.table().copy(row, image, node);
            image.setOrdinalAndLabel(node, ordinals.applyAsInt(row), labels.applyAsInt(row));
            numbering.writeNeighbors(image, graph, node, room);
        }
        return image;
    }

    private static void write(MemorySegment memory, Output output) throws IOException {
        for (long at = 0; at < memory.byteSize(); at += PIECE) {
            output.write(
                    memory.asSlice(at, Math.min(PIECE, memory.byteSize() - at)).asByteBuffer());
        }
    }

    /**
     * Whether a graph can be searched where it lies.
     *
     * @param memory begins where the graph does
     * @return whether that is off-heap at a multiple of 8 bytes; elsewhere it has to be copied
     */
    public static boolean canOpen(MemorySegment memory) {
        return GraphImage.canLieAt(memory);
    }

    /**
     * Opens a graph where it lies. Its head is checked against the memory's size, its dimension and number of nodes against
     * what they are to be. Neighbours and labels are checked as searches come to them, ordinals as they are given.
     *
     * @param name what the graph is called in messages
     * @param memory begins where the graph does, at a multiple of 8 bytes, and ends where it ends; must stay accessible while
     *     the graph is searched, and its bytes the same
     * @param metric that the graph must have been written for
     * @param dimension components that its vectors must have
     * @param nodes how many it must have
     * @return the graph
     * @throws TableFileException if the memory holds something else
     */
    public static CodedGraph open(Path name, MemorySegment memory, Metric metric, int dimension, int nodes)
            throws TableFileException {
        GraphImage image = ImageFile.openInPlace(name, memory);
        GraphImage.Shape shape = image.shape();
        if (shape.metric() != metric || shape.dimension() != dimension || shape.nodes() != nodes) {
            throw new TableFileException(
                    name,
                    0,
                    "is a graph of %,d vectors of %,d components under %s, it must be of %,d of %,d under %s"
                            .formatted(shape.nodes(), shape.dimension(), shape.metric(), nodes, dimension, metric));
        }
        return new CodedGraph(name, image);
    }

    /**
     * How many nodes it has.
     *
     * @return at least 1
     */
    public int nodes() {
        return image.shape().nodes();
    }

    /**
     * How many layers there are above layer 0.
     *
     * @return 0 to 64
     */
    public int levels() {
        return image.levels();
    }

    /**
     * How many nodes a layer has: those with the lowest numbers. Searches begin at node 0.
     *
     * @param level from 0 to {@link #levels()}
     * @return at least 1
     */
    public int nodes(int level) {
        return image.nodes(level);
    }

    /**
     * Most neighbours of a node in a layer.
     *
     * @param level from 0 to {@link #levels()}
     * @return from 1 to {@link #MAX_NEIGHBORS}
     */
    public int degree(int level) {
        return image.degree(level);
    }

    /**
     * A neighbour of a node.
     *
     * @param level from 0 to {@link #levels()}
     * @param node one of the layer
     * @param i from 0 to {@link #degree}
     * @return a node of the layer, or -1 where the node has no more than {@code i} neighbours
     * @throws TableFileException if the graph names a neighbour that is no node of the layer
     */
    public int neighbor(int level, int node, int i) throws TableFileException {
        int neighbor = image.neighbor(level, node, i);
        if (neighbor >= image.nodes(level)) {
            throw new TableFileException(
                    name,
                    image.neighborAt(level, node, i),
                    "has neighbour " + neighbor + " of node " + node + " in layer " + level + ", which has "
                            + image.nodes(level) + " nodes");
        }
        return Math.max(neighbor, -1);
    }

    /**
     * Where a node's vector is.
     *
     * @param node from 0 to {@link #nodes()}
     * @return the ordinal that it was written with, less than the number of nodes
     * @throws TableFileException if it is not
     */
    public int ordinal(int node) throws TableFileException {
        int ordinal = image.ordinal(node);
        if (ordinal < 0 || ordinal >= nodes()) {
            throw new TableFileException(
                    name, 0, "has ordinal " + ordinal + " of node " + node + ", it must be less than " + nodes());
        }
        return ordinal;
    }

    /**
     * Whether comparing a query with all vectors that a filter allows, which is exact, is no more work than a search.
     *
     * @param allowed how many vectors these are
     * @param width of the search
     * @return whether to do that instead
     */
    public boolean scanIsShorter(int allowed, int width) {
        return WalkPlan.scanIsShorter(nodes(), allowed, width);
    }

    /**
     * Begins a search.
     *
     * @param query as many values as the vectors have components, at least; under {@link Metric#COSINE} of length 1
     * @param width how many of the nearest are looked for (HNSW's ef), from 1
     * @param allowed a bit per label, 64 a word, the lowest first, set where the search may find the node; {@code null} allows
     *     all. Copied
     * @param labels how many bits of it count: more than every label
     * @return the search, to be closed
     * @throws IllegalArgumentException if the query has too few values
     */
    public GraphSearch search(float[] query, int width, long @Nullable [] allowed, int labels) {
        if (query.length < image.shape().dimension() || width < 1) {
            throw new IllegalArgumentException("a query must have "
                    + image.shape().dimension() + " values and a width from 1, got " + query.length + " and " + width);
        }
        return new GraphSearch(this, image, query, width, allowed, labels);
    }

    /**
     * The width with which to look for a number of nearest vectors, so that none is lost at the end of the list.
     *
     * @param k how many
     * @param ef the least width, HNSW's ef
     * @return at least {@code ef}
     */
    public static int width(int k, int ef) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(ef, (long) k + WalkPlan.WIDER_BY_CODE));
    }

    /**
     * How many of those that a search finds are to be compared exactly, for a number of nearest vectors: codes order vectors
     * nearly as their components do.
     *
     * @param k how many
     * @param width of the search
     * @return at most {@code width}
     */
    public int compared(int k, int width) {
        return WalkPlan.reranked(k, width, image.shape().dimension());
    }

    /**
     * The width with which a search is done again that was too narrow.
     *
     * @param width that it had
     * @return the wider one, at most the number of nodes
     */
    public int wider(int width) {
        return WalkPlan.wider(width, nodes());
    }

    Path name() {
        return name;
    }

    /** A built graph as the walk package has it. */
    private record Links(BuiltGraph graph) implements GraphLinks {
        @Override
        public int levels() {
            return graph.levels();
        }

        @Override
        public int entry() {
            return graph.entry();
        }

        @Override
        public int[] nodes(int level) {
            return graph.rows(level);
        }

        @Override
        public int neighbors(int level, int node, int[] into) {
            return graph.neighbors(level, node, into);
        }
    }
}
