package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GraphLinks;
import io.github.roost.index.hnsw.search.GraphNumbering;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.index.hnsw.search.SearchPlan;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableFileException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A graph with the SQ8 codes of its vectors in one memory segment, which may be part of a mapped file. The vectors are stored
 * elsewhere: a search returns ordinals, nearest first by code, and the caller reranks them by the vectors. Immutable; thread-safe.
 *
 * <p>Besides its node number, which only the graph uses, a node has an ordinal, the position of its vector, and a label, by which
 * filters identify it (in Lucene, the ordinal of a vector and its document).
 */
public final class CodedGraph {
    /** Max neighbors of a node in layer 0. */
    public static final int MAX_NEIGHBORS = GraphImage.MAX_NEIGHBORS;

    /** Codes misorder candidates at the end of the list, so a search without a width is a little wider than k. */
    private static final int WIDER_THAN_K = 4;

    /** Max bytes per write. */
    private static final int PIECE = 1 << 20;

    private final Path name;
    private final GraphImage image;

    private CodedGraph(Path name, GraphImage image) {
        this.name = name;
        this.image = image;
    }

    /** The destination of a written graph. */
    @FunctionalInterface
    public interface Output {
        /**
         * Appends bytes.
         *
         * @param piece its remaining bytes
         * @throws IOException if the bytes cannot be written; aborts the write of the graph
         */
        void write(ByteBuffer piece) throws IOException;
    }

    /**
     * Creates a graph in memory, to be searched there or written.
     *
     * @param links the graph over the rows
     * @param degree max neighbors of a row in layer 0 of {@code links}, from 1. The graph keeps the nearest, at most {@link
     *     #MAX_NEIGHBORS}, and half as many in upper layers
     * @param rows the codes of the rows; may be freed afterwards
     * @param ordinals maps a row to its ordinal, 0 or more
     * @param labels maps a row to its label, 0 or more
     * @param arena allocates the memory; must be accessible from all searching threads and open while the graph is searched
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
        int max = Math.min(degree, MAX_NEIGHBORS);
        GraphNumbering numbering = new GraphNumbering(graph, rows.rows(), degree, () -> {});
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(
                        rows.table().metric(),
                        GraphImage.Content.CODES,
                        rows.table().dimension(),
                        max,
                        (max + 1) / 2,
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

    /**
     * Writes the graph. To be opened in place later, it must begin at a multiple of 8 bytes, best of 64.
     *
     * @param output the destination
     * @return the number of bytes written
     * @throws IOException if the output throws it
     */
    public long write(Output output) throws IOException {
        MemorySegment memory = image.memory();
        for (long at = 0; at < memory.byteSize(); at += PIECE) {
            output.write(
                    memory.asSlice(at, Math.min(PIECE, memory.byteSize() - at)).asByteBuffer());
        }
        return image.bytes();
    }

    /**
     * Whether a graph can be searched in place.
     *
     * @param memory memory that begins with the graph
     * @return whether the memory is off-heap and aligned to 8 bytes; otherwise the graph must be copied
     */
    public static boolean canOpen(MemorySegment memory) {
        return GraphImage.canLieAt(memory);
    }

    /**
     * Opens a graph in place. Its head is validated against the memory's size and the expected metric, dimension and number of nodes.
     * Neighbors and labels are bounds-checked when a search reads them, ordinals when they are returned.
     *
     * @param name the graph's name in messages
     * @param memory exactly the graph's bytes, aligned to 8 bytes; must stay accessible and unchanged while the graph is searched
     * @param metric the expected metric
     * @param dimension the expected number of components per vector
     * @param nodes the expected number of nodes
     * @return the graph
     * @throws TableFileException if the memory does not contain such a graph
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
     * The number of nodes.
     *
     * @return at least 1
     */
    public int nodes() {
        return image.shape().nodes();
    }

    /**
     * The number of layers above layer 0.
     *
     * @return from 0 to 64
     */
    public int levels() {
        return image.levels();
    }

    /**
     * The number of nodes of a layer, which are the nodes with the lowest numbers. Searches begin at node 0.
     *
     * @param level from 0 to {@link #levels()}
     * @return at least 1
     */
    public int nodes(int level) {
        return image.nodes(level);
    }

    /**
     * Max neighbors of a node in a layer.
     *
     * @param level from 0 to {@link #levels()}
     * @return from 1 to {@link #MAX_NEIGHBORS}
     */
    public int degree(int level) {
        return image.degree(level);
    }

    /**
     * A neighbor of a node.
     *
     * @param level from 0 to {@link #levels()}
     * @param node a node of the layer
     * @param i rank of the neighbor, from 0 to {@link #degree} exclusive
     * @return a node of the layer, or -1 if the node has at most {@code i} neighbors
     * @throws TableFileException if the neighbor is not a node of the layer
     */
    public int neighbor(int level, int node, int i) throws TableFileException {
        int neighbor = image.neighbor(level, node, i);
        if (neighbor >= image.nodes(level)) {
            throw new TableFileException(
                    name,
                    image.neighborAt(level, node, i),
                    "has neighbor " + neighbor + " of node " + node + " in layer " + level + ", which has "
                            + image.nodes(level) + " nodes");
        }
        return Math.max(neighbor, -1);
    }

    /**
     * The ordinal of a node, the position of its vector.
     *
     * @param node from 0 to {@link #nodes()} exclusive
     * @return the ordinal it was written with, less than the number of nodes
     * @throws TableFileException if the ordinal is out of range
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
     * Whether an exhaustive scan of the vectors that a filter allows, which is exact, is no more work than a search.
     *
     * @param allowed number of allowed vectors
     * @param width width of the search
     * @return whether to scan instead
     */
    public boolean scanIsShorter(int allowed, int width) {
        return SearchPlan.scanIsShorter(nodes(), allowed, width);
    }

    /**
     * Begins a search.
     *
     * @param query at least as many values as the vectors have components; under {@link Metric#COSINE} of length 1
     * @param width HNSW's ef, from 1
     * @param allowed bit set over labels, 64 bits per word, lowest bit first, of the nodes that the search may find; {@code null} allows
     *     all nodes. Copied
     * @param labels number of bits in {@code allowed}; greater than every label
     * @return the search, to be closed
     * @throws IllegalArgumentException if the query has too few values, or the width is less than 1
     */
    public GraphSearch search(float[] query, int width, long @Nullable [] allowed, int labels) {
        if (query.length < image.shape().dimension() || width < 1) {
            throw new IllegalArgumentException("a query must have "
                    + image.shape().dimension() + " values and a width from 1, got " + query.length + " and " + width);
        }
        return new GraphSearch(this, image, query, width, allowed, labels);
    }

    /**
     * The width of a search for the k nearest vectors for which the caller has no width.
     *
     * @param k number of vectors
     * @return at least {@code k}
     */
    public static int width(int k) {
        return (int) Math.min(Integer.MAX_VALUE, (long) k + WIDER_THAN_K);
    }

    /**
     * The number of found vectors to rerank for the k nearest. Fewer than {@code width} may suffice, because the order by codes is
     * close to the exact order.
     *
     * @param k number of vectors
     * @param width width of the search
     * @return at most {@code width}
     */
    public int compared(int k, int width) {
        return SearchPlan.reranked(k, width, image.shape().dimension());
    }

    /**
     * The width for the retry of a search that was too narrow.
     *
     * @param width the width of the search
     * @return a larger width, at most the number of nodes
     */
    public int wider(int width) {
        return SearchPlan.wider(width, nodes());
    }

    Path name() {
        return name;
    }

    /** Adapter from a built graph to the search package's interface. */
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
