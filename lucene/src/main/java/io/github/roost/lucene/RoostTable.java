package io.github.roost.lucene;

import io.github.roost.core.Vectors;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntUnaryOperator;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.VectorUtil;

/**
 * A table of Roost beside a Lucene index: the vectors of its documents, by an id that the documents have as a numeric doc
 * value. Made once and shared by the {@link RoostKnnQuery}s that it answers. Which document is which row is read when a
 * reader is first searched, and kept until it is closed: 63,666 documents take some milliseconds. Thread-safe.
 */
public final class RoostTable {
    private final VectorTable table;
    private final IntUnaryOperator effort;
    private final String idField;
    private final ConcurrentMap<IndexReader.CacheKey, LiveRows> rows = new ConcurrentHashMap<>();

    /** @param effort of a search for so many rows */
    private RoostTable(VectorTable table, IntUnaryOperator effort, String idField) {
        this.table = table;
        this.effort = effort;
        this.idField = idField;
    }

    /**
     * An HNSW table.
     *
     * @param table of the documents' vectors
     * @param ef width of its searches, from 1 to 100,000; k where that is more
     * @param idField numeric doc value with the table's ids
     * @return the table, for queries
     * @throws IllegalArgumentException if {@code ef} is not within its range
     */
    public static RoostTable of(HnswTable table, int ef, String idField) {
        Vectors.requireRange("ef", ef, 1, 100_000);
        return new RoostTable(table, k -> Math.max(k, ef), idField);
    }

    /**
     * An IVF table.
     *
     * @param table of the documents' vectors
     * @param nprobe lists that a search scans, from 1 to all; all of them make it exact, few of them may hold fewer than k
     *     rows that a filter accepts
     * @param idField numeric doc value with the table's ids
     * @return the table, for queries
     * @throws IllegalArgumentException if {@code nprobe} is not within its range
     */
    public static RoostTable of(IvfTable table, int nprobe, String idField) {
        Vectors.requireRange("nprobe", nprobe, 1, table.nlist());
        return new RoostTable(table, k -> nprobe, idField);
    }

    /**
     * Name of the table.
     *
     * @return as it was given when the table was built
     */
    public String name() {
        return table.name();
    }

    /**
     * The doc value that holds the table's ids.
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

    /** Several searches that begin together. */
    List<CompletableFuture<SearchResult>> searchAll(float[][] queries, int k, IdFilter accepted) {
        return table.searchAll(Arrays.stream(queries)
                .map(query ->
                        SearchRequest.of(query, k).effort(effort.applyAsInt(k)).filter(accepted))
                .toList());
    }

    /** The search itself, so that cancelling it ends it. */
    CompletableFuture<SearchResult> search(float[] query, int k, IdFilter accepted) {
        return table.search(
                SearchRequest.of(query, k).effort(effort.applyAsInt(k)).filter(accepted));
    }

    /**
     * Lucene's score of two vectors: 1 / (1 + d) of a squared distance d, (1 + cos) / 2 of a cosine, and that of {@code
     * MAXIMUM_INNER_PRODUCT}.
     *
     * @param distance of the table's metric
     * @return a positive score, larger where it is nearer
     */
    public float score(float distance) {
        return switch (table.metric()) {
            case SQUARED_L2 -> 1 / (1 + distance);
            case INNER_PRODUCT -> VectorUtil.scaleMaxInnerProductScore(-distance);
            case COSINE -> Math.max(0, (2 - distance) / 2);
        };
    }

    /**
     * The rows of a reader. Who searches holds the reader open, so it is closed only after the listener was added, and what
     * is kept here is dropped.
     */
    LiveRows rowsOf(IndexReader reader) throws IOException {
        IndexReader.CacheHelper cache = reader.getReaderCacheHelper();
        if (cache == null) {
            return LiveRows.of(reader, idField);
        }
        try {
            return rows.computeIfAbsent(cache.getKey(), key -> {
                LiveRows read = read(reader);
                cache.addClosedListener(rows::remove);
                return read;
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private LiveRows read(IndexReader reader) {
        try {
            return LiveRows.of(reader, idField);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * How many readers it keeps the rows of: those that have been searched and not been closed.
     *
     * @return 0 or more
     */
    public int readers() {
        return rows.size();
    }
}
