package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GroupScratch;
import io.github.roost.index.hnsw.walk.ImageFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * For authors of indexes: one HNSW graph (Malkov and Yashunin, IEEE TPAMI 42(4), 2020) with its rows and their ids in one piece of
 * memory. The memory may be copied elsewhere, over a network too, and searched there in place: it holds offsets, no addresses.
 * Immutable; thread-safe.
 */
public final class HnswGraph {
    private final FrozenGraph graph;

    private HnswGraph(FrozenGraph graph) {
        this.graph = graph;
    }

    /**
     * Builds a graph as batch work, and waits for it.
     *
     * @param work its steps; of this build alone
     * @param metric how distances are measured
     * @param m neighbours that a row keeps in an upper layer, twice as many in layer 0; from 2 to 256
     * @param efConstruction width of the searches that find a new row's neighbours, from 1 to 10,000
     * @param ids one external id per row
     * @param rows at least one, of 1 to 4,096 dimensions, finite, not zero for cosine
     * @return the graph, in memory of its own
     * @throws IllegalArgumentException if a number or a row is invalid
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
     * Opens a graph where it lies. Its head is checked against the memory's size; that the other bytes are those of a graph is
     * for a checksum of the caller's to tell. Walks check each neighbour that they follow.
     *
     * @param name what the graph is called in messages
     * @param memory all bytes of {@link #memory()} of a graph, off-heap, at a multiple of 8; it must stay accessible while the
     *     graph is used, and its bytes the same
     * @return the graph
     * @throws TableFileException if the head is not that of a graph of this size
     * @throws IllegalArgumentException if the memory is on the heap, or begins at no multiple of 8
     */
    public static HnswGraph open(String name, MemorySegment memory) throws TableFileException {
        if (!GraphImage.canLieAt(memory)) {
            throw new IllegalArgumentException("the memory of a graph must be off-heap, at a multiple of 8 bytes");
        }
        return new HnswGraph(new FrozenGraph(ImageFile.openInPlace(Path.of(name), memory, GraphImage.Content.VECTORS)));
    }

    /**
     * Finds the nearest rows that two filters allow, as a search of an {@link HnswTable} does.
     *
     * @param query of the graph's dimension, finite, not zero for cosine
     * @param k how many rows at most, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param alive the rows that are still there; asked about each row once, and kept as long as it lives
     * @param wanted the rows that may be found; likewise
     * @param visitLimit how many vectors may be compared, at least 1
     * @param context told of what is touched; asked whether the result is still wanted
     * @return what was found and what it cost
     * @throws io.github.roost.core.task.DeadlineExceededException if the result is no longer wanted
     */
    public SearchResult search(
            float[] query, int k, int ef, IdFilter alive, IdFilter wanted, long visitLimit, SearchContext context) {
        GraphTable.requireWidth(k, ef);
        Vectors.require("query", query, dimension(), metric());
        GraphVisit visit = new GraphVisit(context, visitLimit);
        Neighbors found = graph.search(query, k, ef, graph.allowed(alive, visit), graph.allowed(wanted, visit), visit);
        return new SearchResult(found, visit.cost(), visit.isCutShort());
    }

    /**
     * Finds the nearest rows of several queries that two filters allow, exactly: by comparing every allowed row with all of them, so
     * that each row is read from memory once. For a few thousand rows and some tens of queries that is several times faster than
     * {@link #search} for each.
     *
     * @param queries from 1 to 1,024, each of the graph's dimension, finite, not
     *     zero for cosine
     * @param k how many rows at most for each, from 1 to 10,000
     * @param alive the rows that are still there; asked about each row once, and kept as long as it lives
     * @param wanted the rows that may be found; likewise
     * @param context told of what is touched, bytes once for all queries; asked whether the results are still wanted
     * @return what was found and what it cost, one per query in their order
     * @throws io.github.roost.core.task.DeadlineExceededException if the results are no longer wanted
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

    /** {@return how distances are measured} */
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
     * @return its id
     */
    public long id(int row) {
        Vectors.requireRange("row", row, 0, rows() - 1L);
        return graph.image().id(row);
    }

    /**
     * The row of an external id; the first call sorts the ids, 12 bytes per row of the Java heap from then on.
     *
     * @param id any
     * @return from 0 to {@link #rows()} exclusive, or -1 where there is none
     */
    public int row(long id) {
        return graph.row(id);
    }

    /**
     * The vector of a row, as the graph keeps it: scaled to length 1 for cosine.
     *
     * @param row from 0 to {@link #rows()} exclusive
     * @return a copy
     */
    public float[] vector(int row) {
        Vectors.requireRange("row", row, 0, rows() - 1L);
        return graph.vectorOfRow(row);
    }
}
