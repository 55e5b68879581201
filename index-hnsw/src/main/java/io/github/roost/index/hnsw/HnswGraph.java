package io.github.roost.index.hnsw;

import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GroupScratch;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableFileException;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * An HNSW graph (Malkov and Yashunin, IEEE TPAMI 42(4), 2020) with its rows and ids in one memory segment.
 * The memory holds offsets, no addresses, so it can be copied, also over a network, and searched in place there.
 * Immutable; thread-safe.
 */
public final class HnswGraph {
    private final FrozenGraph graph;

    private HnswGraph(FrozenGraph graph) {
        this.graph = graph;
    }

    /**
     * Builds a graph as batch work. Blocks.
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
    public static HnswGraph build(
            BuildWork work, Metric metric, int m, int efConstruction, long[] ids, VectorSource rows) {
        Vectors.requireRange("number of vectors", rows.size(), 1, Integer.MAX_VALUE - 8);
        Vectors.requireRange("dimension", rows.dimension(), 1, Vectors.MAX_DIMENSIONS);
        if (ids.length != rows.size()) {
            throw new IllegalArgumentException(
                    "there must be one id per vector, got " + ids.length + " ids for " + rows.size());
        }
        GraphOptions options = new GraphOptions(metric, ElementType.FLOAT32, m, efConstruction);
        return new HnswGraph(new FrozenGraph(new GraphBuild(work, options).run(ids, rows)));
    }

    /**
     * Opens a graph in place. Only its head is validated, against the memory's size; the caller must verify the other bytes with a
     * checksum of its own. Searches check the bounds of each neighbor that they follow.
     *
     * @param name the graph's name in messages
     * @param memory a copy of all bytes of a graph's {@link #memory()}, off-heap, aligned to 8 bytes; it must stay accessible and
     *     unchanged while the graph is used
     * @return the graph
     * @throws TableFileException if the head does not describe a graph of this size
     * @throws IllegalArgumentException if the memory is on the heap, or not aligned to 8 bytes
     */
    public static HnswGraph open(String name, MemorySegment memory) throws TableFileException {
        if (!GraphImage.canLieAt(memory)) {
            throw new IllegalArgumentException("the memory of a graph must be off-heap, at a multiple of 8 bytes");
        }
        return new HnswGraph(new FrozenGraph(ImageFile.openInPlace(Path.of(name), memory, GraphImage.Content.VECTORS)));
    }

    /**
     * Finds the nearest rows that both of two filters allow, as a search of an {@link HnswTable} does.
     *
     * @param query of the graph's dimension, finite, not zero for cosine
     * @param k max number of rows, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param alive the rows that are not deleted; evaluated once for every row, and cached as long as the filter object lives
     * @param wanted the rows that may be found; cached likewise
     * @param visitLimit max number of vectors to compare, at least 1
     * @param context receives the traffic, and says whether the search has expired
     * @return the rows found and the cost of the search
     * @throws IllegalArgumentException if an argument is invalid
     * @throws io.github.roost.core.DeadlineExceededException if the search expires
     */
    public SearchResult search(
            float[] query, int k, int ef, IdFilter alive, IdFilter wanted, long visitLimit, SearchContext context) {
        GraphTable.requireWidth(k, ef);
        Vectors.require("query", query, dimension(), metric());
        GraphVisit visit = new GraphVisit(context, visitLimit);
        SearchResult found = graph.search(query, k, ef, graph.allowed(alive, visit), graph.allowed(wanted, visit), visit);
        return found.with(visit.cost(), visit.isCutShort());
    }

    /**
     * Finds the exact nearest rows of several queries that both of two filters allow. Every allowed row is compared with all queries,
     * so each row is read from memory once. For a few thousand rows and some tens of queries this is several times faster than
     * {@link #search} for each query.
     *
     * @param queries from 1 to 1,024, each of the graph's dimension, finite, not
     *     zero for cosine
     * @param k max number of rows per query, from 1 to 10,000
     * @param alive the rows that are not deleted; evaluated once for every row, and cached as long as the filter object lives
     * @param wanted the rows that may be found; cached likewise
     * @param context receives the traffic, with the bytes counted once for all queries; says whether the searches have expired
     * @return the rows found and the cost, per query in the order of the queries
     * @throws IllegalArgumentException if an argument is invalid
     * @throws io.github.roost.core.DeadlineExceededException if the searches expire
     */
    public List<SearchResult> scanTogether(
            List<float[]> queries, int k, IdFilter alive, IdFilter wanted, SearchContext context) {
        Vectors.requireRange("queries of a scan", queries.size(), 1, GroupScratch.MAX_QUERIES);
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        for (float[] query : queries) {
            Vectors.require("query", query, dimension(), metric());
        }
        GraphVisit visit = new GraphVisit(context);
        return graph.scanTogether(queries, k, graph.allowed(alive, visit), graph.allowed(wanted, visit), visit);
    }

    /** {@return the bytes of the graph, read-only} */
    public MemorySegment memory() {
        return graph.image().memory().asReadOnly();
    }

    /** {@return the metric} */
    public Metric metric() {
        return graph.image().shape().metric();
    }

    /** {@return the number of components of a vector} */
    public int dimension() {
        return graph.image().shape().dimension();
    }

    /** {@return the number of rows, at least 1} */
    public int rows() {
        return graph.rows();
    }

    /**
     * The external id of a row.
     *
     * @param row from 0 to {@link #rows()} exclusive
     * @return the id
     * @throws IllegalArgumentException if there is no such row
     */
    public long id(int row) {
        Vectors.requireRange("row", row, 0, rows() - 1L);
        return graph.image().id(row);
    }

    /**
     * The row of an external id. The first call sorts the ids into an index on the Java heap, 12 bytes per row, which the graph keeps.
     *
     * @param id any id
     * @return from 0 to {@link #rows()} exclusive, or -1 if there is no such id
     */
    public int row(long id) {
        return graph.row(id);
    }

    /**
     * The vector of a row as the graph stores it: scaled to length 1 for cosine.
     *
     * @param row from 0 to {@link #rows()} exclusive
     * @return a copy
     * @throws IllegalArgumentException if there is no such row
     */
    public float[] vector(int row) {
        Vectors.requireRange("row", row, 0, rows() - 1L);
        return graph.vectorOfRow(row);
    }
}
