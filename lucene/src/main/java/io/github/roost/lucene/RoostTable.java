package io.github.roost.lucene;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.VectorUtil;

/**
 * A Roost table with the vectors of the documents of a Lucene index. Documents and rows are matched by an id, which documents have
 * as a numeric doc value. Created once and shared by {@link RoostKnnQuery}s. The map from ids to documents is read when a
 * reader is first searched, and kept until the reader is closed; for 63,666 documents that takes some milliseconds. Thread-safe.
 */
public final class RoostTable {
    private final VectorTable table;
    private final int effort;
    private final String idField;
    private final ConcurrentMap<IndexReader.CacheKey, LiveDocuments> rows = new ConcurrentHashMap<>();

    private RoostTable(VectorTable table, int effort, String idField) {
        this.table = table;
        this.effort = effort;
        this.idField = idField;
    }

    /**
     * Creates a table from a table of any index.
     *
     * @param table the documents' vectors
     * @param effort effort of its searches, as in {@link SearchRequest#effort}: ef of a graph, from 1 to 100,000, raised to k if k is
     *     larger; nprobe of an inverted file, from 1 to the number of lists. A search of all lists is exact; a few lists may hold
     *     fewer than k rows that a filter accepts
     * @param idField field with the table's ids as numeric doc values
     * @return the table, for queries
     * @throws IllegalArgumentException if {@code effort} is out of range
     */
    public static RoostTable of(VectorTable table, int effort, String idField) {
        Vectors.requireRange("effort", effort, table.minEffort(1), table.maxEffort());
        return new RoostTable(table, effort, idField);
    }

    /**
     * The name of the table.
     *
     * @return the name that the table was built with
     */
    public String name() {
        return table.name();
    }

    /**
     * The doc values field with the table's ids.
     *
     * @return the name of the field
     */
    public String idField() {
        return idField;
    }

    void require(float[] query, int k) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.require("query", query, table.dimension(), table.metric());
    }

    /** Submits several searches together. */
    List<CompletableFuture<SearchResult>> searchAll(float[][] queries, int k, IdFilter accepted) {
        return table.searchAll(
                Arrays.stream(queries).map(query -> request(query, k, accepted)).toList());
    }

    /** Submits a search. The returned future is the search's own, not a derived one, so cancelling it ends the search. */
    CompletableFuture<SearchResult> search(float[] query, int k, IdFilter accepted) {
        return table.search(request(query, k, accepted));
    }

    private SearchRequest request(float[] query, int k, IdFilter accepted) {
        return SearchRequest.of(query, k)
                .effort(Math.max(effort, table.minEffort(k)))
                .filter(accepted);
    }

    /**
     * Converts a distance to Lucene's score: 1 / (1 + d) for a squared distance d, (1 + cos) / 2 for cosine, and the score of {@code
     * MAXIMUM_INNER_PRODUCT} for inner product.
     *
     * @param distance a distance in the table's metric
     * @return a score, not negative; larger is nearer
     */
    public float score(float distance) {
        return switch (table.metric()) {
            case SQUARED_L2 -> 1 / (1 + distance);
            case INNER_PRODUCT -> VectorUtil.scaleMaxInnerProductScore(-distance);
            case COSINE -> Math.max(0, (2 - distance) / 2);
        };
    }

    /**
     * The rows of a reader. The searching thread holds the reader open, so the reader is closed only after the listener was added, and
     * the cached rows are always dropped.
     */
    LiveDocuments rowsOf(IndexReader reader) throws IOException {
        IndexReader.CacheHelper cache = reader.getReaderCacheHelper();
        if (cache == null) {
            return LiveDocuments.of(reader, idField);
        }
        try {
            return rows.computeIfAbsent(cache.getKey(), key -> {
                LiveDocuments read = read(reader);
                cache.addClosedListener(rows::remove);
                return read;
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private LiveDocuments read(IndexReader reader) {
        try {
            return LiveDocuments.of(reader, idField);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The number of cached readers: open readers that have been searched.
     *
     * @return 0 or more
     */
    public int readers() {
        return rows.size();
    }
}
