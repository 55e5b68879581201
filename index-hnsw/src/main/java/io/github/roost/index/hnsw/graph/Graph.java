package io.github.roost.index.hnsw.graph;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GroupScratch;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.index.hnsw.search.SearchPlan;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An HNSW graph (Malkov and Yashunin, IEEE TPAMI 42(4), 2020) in one memory segment, its image, and its searches. The image holds
 * offsets, no addresses, so it can be copied, also over a network, and searched in place there. Immutable; thread-safe.
 *
 * <p>A graph of rows has their vectors and ids; its searches find ids and exact distances. A graph of codes has the SQ8 codes of
 * vectors that are stored elsewhere, or a copy of the vectors if codes would lose too much: a {@link GraphSearch} finds ordinals, nearest
 * first, and the caller reranks them by the vectors. Besides its node number, a node of a graph of codes has an ordinal, the position of
 * its vector, and a label, by which filters identify it (in Lucene, the ordinal of a vector and its document).
 */
public final class Graph {
    /** Max neighbors of a node in layer 0. */
    public static final int MAX_NEIGHBORS = GraphImage.MAX_NEIGHBORS;

    /** Codes misorder candidates at the end of the list, so a search of codes without a width is a little wider than k. */
    private static final int WIDER_THAN_K = 4;
    /** The time of a comparison by a caller's Java code, over that in C. */
    private static final int SLOWER_IN_JAVA = 4;
    /** Max bytes per write. */
    private static final int PIECE = 1 << 20;

    private static final BuiltGraph NO_LINKS = new BuiltGraph() {
        @Override
        public int levels() {
            return 0;
        }

        @Override
        public int entry() {
            return 0;
        }

        @Override
        public int[] rows(int level) {
            return new int[0];
        }

        @Override
        public int neighbors(int level, int row, int[] into) {
            return 0;
        }
    };

    private final Path name;
    private final GraphImage image;
    private final GraphSpace space;
    private final RowSearcher searcher;
    /** Created on first use; if two threads create it at once, one copy is discarded. */
    private volatile @Nullable RowsById byId;

    /**
     * A graph with an image.
     *
     * @param image the image
     */
    public Graph(GraphImage image) {
        this(Path.of("graph"), image);
    }

    private Graph(Path name, GraphImage image) {
        this.name = name;
        this.image = image;
        GraphImage.Shape shape = image.shape();
        this.space = new GraphSpace(shape.metric(), shape.exponent(), shape.largest());
        this.searcher = new RowSearcher(image, space);
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
     * Builds a graph of rows as batch work. Blocks.
     *
     * @param work runs the steps; used for this build only
     * @param metric the distance
     * @param m max neighbors of a row in an upper layer, and half the max in layer 0; from 2 to 256
     * @param efConstruction width of the searches that find a new row's neighbors, from 1 to 10,000
     * @param ids one external id per row
     * @param rows at least one, of 1 to 4,096 dimensions, finite, not zero for cosine
     * @return the graph, in newly allocated memory
     * @throws IllegalArgumentException if an argument or a row is invalid
     */
    public static Graph build(BuildWork work, Metric metric, int m, int efConstruction, long[] ids, VectorSource rows) {
        Vectors.requireRange("number of vectors", rows.size(), 1, Integer.MAX_VALUE - 8);
        Vectors.requireRange("dimension", rows.dimension(), 1, Vectors.MAX_DIMENSIONS);
        if (ids.length != rows.size()) {
            throw new IllegalArgumentException(
                    "there must be one id per vector, got " + ids.length + " ids for " + rows.size());
        }
        GraphOptions options = new GraphOptions(metric, ElementType.FLOAT32, m, efConstruction);
        return new Graph(new GraphBuild(work, options).run(ids, rows));
    }

    /**
     * Creates a graph of codes in memory, to be searched there or written.
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
    public static Graph of(
            BuiltGraph links,
            int degree,
            CodedRows rows,
            IntUnaryOperator ordinals,
            IntUnaryOperator labels,
            Arena arena) {
        int max = Math.min(degree, MAX_NEIGHBORS);
        GraphNumbering numbering = new GraphNumbering(links, rows.rows(), degree, () -> {});
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(
                        rows.metric(),
                        rows.content(),
                        rows.dimension(),
                        max,
                        (max + 1) / 2,
                        rows.rows(),
                        rows.rows(),
                        0,
                        0,
                        numbering.levelCounts()),
                arena);
        rows.copyCenter(image);
        int[] room = new int[degree];
        for (int node = 0; node < rows.rows(); node++) {
            int row = numbering.inGraph(node);
            rows.copy(row, image, node);
            image.setOrdinalAndLabel(node, ordinals.applyAsInt(row), labels.applyAsInt(row));
            numbering.writeNeighbors(image, links, node, room);
        }
        return new Graph(image);
    }

    /**
     * Creates a graph of codes without links, whose searches compare the codes of all rows. A row's ordinal is its number.
     *
     * @param rows the codes of the rows; may be freed afterwards
     * @param labels maps a row to its label, 0 or more
     * @param arena as in {@link #of(BuiltGraph, int, CodedRows, IntUnaryOperator, IntUnaryOperator, Arena)}
     * @return the graph
     */
    public static Graph withoutLinks(CodedRows rows, IntUnaryOperator labels, Arena arena) {
        return of(NO_LINKS, 0, rows, row -> row, labels, arena);
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
     * Opens a graph of rows in place. Only its head is validated, against the memory's size; the caller must verify the other bytes with
     * a checksum of its own. Searches check the bounds of each neighbor that they follow.
     *
     * @param name the graph's name in messages
     * @param memory a copy of all bytes of a graph's {@link #memory()}, off-heap, aligned to 8 bytes; it must stay accessible and
     *     unchanged while the graph is used
     * @return the graph
     * @throws FileFormatException if the head does not describe a graph of this size
     * @throws IllegalArgumentException if the memory is on the heap, or not aligned to 8 bytes
     */
    public static Graph open(String name, MemorySegment memory) throws FileFormatException {
        if (!canOpen(memory)) {
            throw new IllegalArgumentException("the memory of a graph must be off-heap, at a multiple of 8 bytes");
        }
        Path path = Path.of(name);
        return new Graph(path, ImageFile.openInPlace(path, memory, GraphImage.Content.VECTORS));
    }

    /**
     * Opens a graph of codes in place. Its head is validated against the memory's size and the expected metric, dimension and number of
     * nodes. Neighbors and labels are bounds-checked when a search reads them, ordinals when they are returned.
     *
     * @param name the graph's name in messages
     * @param memory exactly the graph's bytes, aligned to 8 bytes; must stay accessible and unchanged while the graph is searched
     * @param metric the expected metric
     * @param dimension the expected number of components per vector
     * @param nodes the expected number of nodes
     * @return the graph
     * @throws FileFormatException if the memory does not contain such a graph
     */
    public static Graph open(Path name, MemorySegment memory, Metric metric, int dimension, int nodes)
            throws FileFormatException {
        GraphImage image = ImageFile.openLabeled(name, memory);
        GraphImage.Shape shape = image.shape();
        if (shape.metric() != metric || shape.dimension() != dimension || shape.nodes() != nodes) {
            throw new FileFormatException(
                    name,
                    0,
                    "is a graph of %,d vectors of %,d components under %s, it must be of %,d of %,d under %s"
                            .formatted(shape.nodes(), shape.dimension(), shape.metric(), nodes, dimension, metric));
        }
        return new Graph(name, image);
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

    /** {@return the image} */
    public GraphImage image() {
        return image;
    }

    /** {@return the bytes of the graph, read-only} */
    public MemorySegment memory() {
        return image.memory().asReadOnly();
    }

    /** {@return the metric} */
    public Metric metric() {
        return image.shape().metric();
    }

    /** {@return the number of components of a vector} */
    public int dimension() {
        return image.shape().dimension();
    }

    /** {@return the number of nodes, at least 1; each has one row or several equal ones} */
    public int nodes() {
        return image.shape().nodes();
    }

    /** {@return the number of rows, at least 1} */
    public int rows() {
        return image.shape().rows();
    }

    /** {@return the scale of the vectors} */
    public GraphSpace space() {
        return space;
    }

    /** {@return the searches of the graph's rows} */
    public RowSearcher searcher() {
        return searcher;
    }

    Path name() {
        return name;
    }

    /** {@return the number of layers above layer 0, from 0 to 64} */
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
     * @return at most {@link #MAX_NEIGHBORS}; 0 in a graph without links
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
     * @throws FileFormatException if the neighbor is not a node of the layer
     */
    public int neighbor(int level, int node, int i) throws FileFormatException {
        int neighbor = image.neighbor(level, node, i);
        if (neighbor >= image.nodes(level)) {
            throw new FileFormatException(
                    name,
                    image.neighborAt(level, node, i),
                    "has neighbor " + neighbor + " of node " + node + " in layer " + level + ", which has "
                            + image.nodes(level) + " nodes");
        }
        return Math.max(neighbor, -1);
    }

    /**
     * The ordinal of a node of a graph of codes, the position of its vector.
     *
     * @param node from 0 to {@link #nodes()} exclusive
     * @return the ordinal it was written with, less than the number of nodes
     * @throws FileFormatException if the ordinal is out of range
     */
    public int ordinal(int node) throws FileFormatException {
        int ordinal = image.ordinal(node);
        if (ordinal < 0 || ordinal >= nodes()) {
            throw new FileFormatException(
                    name, 0, "has ordinal " + ordinal + " of node " + node + ", it must be less than " + nodes());
        }
        return ordinal;
    }

    /**
     * The external id of a row.
     *
     * @param row from 0 to {@link #rows()} exclusive
     * @return the id
     * @throws IllegalArgumentException if there is no such row
     */
    public long id(int row) {
        requireRow(row);
        return image.id(row);
    }

    /**
     * The row of an external id. The first call sorts the ids into an index on the Java heap, 12 bytes per row, which the graph keeps.
     *
     * @param id any id
     * @return from 0 to {@link #rows()} exclusive, or -1 if there is no such id
     */
    public int row(long id) {
        RowsById known = byId;
        if (known == null) {
            known = RowsById.of(image);
            byId = known;
        }
        return known.row(id);
    }

    /**
     * The vector of a row, in the caller's scale: of length 1 for cosine.
     *
     * @param row from 0 to {@link #rows()} exclusive
     * @return a copy
     * @throws IllegalArgumentException if there is no such row
     */
    public float[] vector(int row) {
        requireRow(row);
        float[] vector = new float[dimension()];
        image.vector(image.nodeOf(row), vector);
        return space.original(vector);
    }

    private void requireRow(int row) {
        Vectors.requireRange("row", row, 0, rows() - 1L);
    }

    /**
     * Begins a search of a graph of codes.
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
        if (query.length < dimension() || width < 1) {
            throw new IllegalArgumentException("a query must have " + dimension() + " values and a width from 1, got "
                    + query.length + " and " + width);
        }
        return new GraphSearch(this, query, width, allowed, labels);
    }

    /**
     * The width of a search of codes for the k nearest vectors for which the caller has no width.
     *
     * @param k number of vectors
     * @return at least {@code k}
     */
    public static int width(int k) {
        return (int) Math.min(Integer.MAX_VALUE, (long) k + WIDER_THAN_K);
    }

    /**
     * Whether searches follow links. Without links they compare the codes of all allowed nodes.
     *
     * @return false in a graph {@linkplain #withoutLinks without links}
     */
    public boolean hasLinks() {
        return degree(0) > 0;
    }

    /**
     * Whether an exhaustive scan of the vectors that a filter allows, which is exact, is no more work than a search.
     *
     * @param allowed number of allowed vectors
     * @param width width of the search
     * @return whether to scan instead
     */
    public boolean scanIsShorter(int allowed, int width) {
        return hasLinks()
                ? SearchPlan.scanIsShorter(nodes(), allowed, Math.ceilDiv(width, SLOWER_IN_JAVA))
                : allowed <= width;
    }

    /**
     * The number of nodes found by codes to rerank by their vectors for the k nearest. Fewer than {@code width} may suffice, because the
     * order by codes is close to the exact order.
     *
     * @param k number of rows
     * @param width width of the search
     * @return at most {@code width}
     */
    public int reranked(int k, int width) {
        return searcher.reranked(k, width);
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

    /**
     * Finds the nearest rows that both of two filters allow.
     *
     * @param query of the graph's dimension, finite, not zero for cosine
     * @param k max number of rows, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param alive the rows that are not deleted, as a cached filter
     * @param wanted the rows that may be found
     * @param visitLimit max number of vectors to compare, at least 1
     * @param context receives the traffic, and says whether the search has expired
     * @return the rows found and the cost of the search
     * @throws IllegalArgumentException if an argument is invalid
     * @throws DeadlineExceededException if the search expires
     */
    public SearchResult search(
            float[] query, int k, int ef, IdFilter alive, IdFilter wanted, long visitLimit, SearchContext context) {
        requireWidth(k, ef);
        Vectors.require("query", query, dimension(), metric());
        GraphVisit visit = new GraphVisit(context, visitLimit);
        return searcher.search(query, k, ef, searcher.allowed(alive, AllowedRows.ALL, visit), wanted, visit)
                .with(visit.cost(), visit.isCutShort());
    }

    /**
     * Checks the numbers of a search.
     *
     * @param k from 1 to 10,000
     * @param ef from k to 100,000
     * @throws IllegalArgumentException if one is out of range
     */
    public static void requireWidth(int k, int ef) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("ef", ef, k, Vectors.MAX_EF);
    }

    /**
     * Finds the exact nearest rows of several queries that both of two filters allow. Every allowed row is compared with all queries,
     * so each row is read from memory once. For a few thousand rows and some tens of queries this is several times faster than
     * a search for each query.
     *
     * @param queries from 1 to 1,024, each of the graph's dimension, finite, not zero for cosine
     * @param k max number of rows per query, from 1 to 10,000
     * @param alive the rows that are not deleted, as a cached filter
     * @param wanted the rows that may be found; asked about all rows once for all queries
     * @param context receives the traffic, with the bytes counted once for all queries; says whether the searches have expired
     * @return the rows found and the cost, per query in the order of the queries
     * @throws IllegalArgumentException if an argument is invalid
     * @throws DeadlineExceededException if the searches expire
     */
    public List<SearchResult> scanTogether(
            List<float[]> queries, int k, IdFilter alive, IdFilter wanted, SearchContext context) {
        Vectors.requireRange("queries of a scan", queries.size(), 1, GroupScratch.MAX_QUERIES);
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        for (float[] query : queries) {
            Vectors.require("query", query, dimension(), metric());
        }
        GraphVisit visit = new GraphVisit(context);
        AllowedRows living = searcher.allowed(alive, AllowedRows.ALL, visit);
        return searcher.scanTogether(queries, k, living, searcher.allowed(wanted, living, visit), visit);
    }

    /**
     * Sorted index from external ids to rows.
     *
     * @param ids the ids, sorted
     * @param rows the row of each
     */
    private record RowsById(long[] ids, int[] rows) {
        static RowsById of(GraphImage image) {
            long[] ids = new long[image.shape().rows()];
            Arrays.setAll(ids, image::id);
            Arrays.sort(ids);
            int[] rows = new int[ids.length];
            for (int row = 0; row < rows.length; row++) {
                rows[Arrays.binarySearch(ids, image.id(row))] = row;
            }
            return new RowsById(ids, rows);
        }

        int row(long id) {
            int at = Arrays.binarySearch(ids, id);
            return at < 0 ? -1 : rows[at];
        }
    }
}
