package io.github.roost.lucene;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;

/**
 * A query for the k live documents whose vectors are nearest to a target, answered by a Roost table. It is the counterpart of Lucene's
 * {@code KnnFloatVectorQuery}, which searches vectors in the index; it has the same scores and can be used in the same places.
 * Deleted documents, documents that a filter does not match, and rows without a document in the searched reader do not
 * count among the k. Immutable.
 */
public final class RoostKnnQuery extends Query {
    private static final SearchResult NOTHING = new SearchResult(new long[0], new float[0]);
    /** Interval at which a search that waits asks for the timeout. */
    private static final int TIMEOUT_CHECK_MILLIS = 2;

    private final RoostTable table;
    private final float[] target;
    private final int k;
    private final @Nullable Query filter;

    /**
     * Creates a query over all live documents.
     *
     * @param table the table to search
     * @param target finite, of the table's dimension; copied
     * @param k number of documents, from 1 to 10,000
     * @throws IllegalArgumentException if the target or k is invalid
     */
    public RoostKnnQuery(RoostTable table, float[] target, int k) {
        this(table, target, k, null);
    }

    /**
     * Creates a query over the live documents that match a filter.
     *
     * @param table the table to search
     * @param target finite, of the table's dimension; copied
     * @param k number of documents, from 1 to 10,000
     * @param filter null for none
     * @throws IllegalArgumentException if the target or k is invalid
     */
    public RoostKnnQuery(RoostTable table, float[] target, int k, @Nullable Query filter) {
        table.require(target, k);
        this.table = table;
        this.target = target.clone();
        this.k = k;
        this.filter = filter;
    }

    /**
     * Searches for several targets at once, with the same hits as one query per target. The filter is run once, and all
     * searches are submitted together. In an IVF table that keeps codes, searches that probe the same list share its scan. Searches that
     * are not done when the searcher's timeout passes are cancelled and have no hits.
     *
     * @param searcher the searcher of the documents
     * @param table the table to search
     * @param targets each finite, of the table's dimension
     * @param k number of documents per target, from 1 to 10,000
     * @param filter null for none
     * @return hits per target, nearest first, in the order of the targets
     * @throws IllegalArgumentException if a target or k is invalid; then nothing is searched
     * @throws IOException if the filter or a search fails
     */
    public static List<TopDocs> batch(
            IndexSearcher searcher, RoostTable table, float[][] targets, int k, @Nullable Query filter)
            throws IOException {
        for (float[] target : targets) {
            table.require(target, k);
        }
        LiveDocuments rows = table.rowsOf(searcher.getIndexReader());
        IdFilter accepted = isTimedOut(searcher) ? null : accepted(searcher, rows, filter);
        if (accepted == null) {
            return Collections.nCopies(targets.length, hitsOf(new ScoreDoc[0]));
        }
        List<CompletableFuture<SearchResult>> searches = table.searchAll(targets, k, accepted.cached());
        try {
            List<TopDocs> found = new ArrayList<>();
            for (CompletableFuture<SearchResult> search : searches) {
                found.add(hitsOf(hits(table, answer(search, searcher), rows)));
            }
            return found;
        } catch (Throwable failure) {
            searches.forEach(search -> search.cancel(false));
            throw failure;
        }
    }

    /**
     * Searches for several targets at once in a field of the index, with the same hits as one {@code KnnFloatVectorQuery} with a {@link
     * SearchEffort} per target. The filter is run once. In a segment in {@link RoostVectorsFormat} that is scanned rather than searched by
     * its graph, because it is small or the filter allows few of its documents, one scan serves all targets. Runs in the searcher's
     * executor, if it has one, and in the calling thread.
     *
     * @param searcher the searcher of the documents
     * @param field a field of float vectors
     * @param targets each finite, of the field's dimension
     * @param k number of documents per target, from 1 to 10,000
     * @param effort width of the search in each segment, from 1 to {@link SearchEffort#MAX_WIDTH}; raised to k if k is larger
     * @param filter null for none
     * @return hits per target, nearest first, in the order of the targets
     * @throws IllegalArgumentException if a target, k or the effort is invalid, or the field has no float vectors
     * @throws IOException if the filter or a search fails
     */
    public static List<TopDocs> batch(
            IndexSearcher searcher, String field, float[][] targets, int k, int effort, @Nullable Query filter)
            throws IOException {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        return new FieldBatch(searcher, field, targets, k, new SearchEffort(effort), filter).run();
    }

    private static TopDocs hitsOf(ScoreDoc[] hits) {
        return new TopDocs(new TotalHits(hits.length, TotalHits.Relation.EQUAL_TO), hits);
    }

    /**
     * Searches the table once for all segments, and rewrites to a query of the documents found: none if the searcher's timeout passes
     * before.
     */
    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        LiveDocuments rows = table.rowsOf(searcher.getIndexReader());
        IdFilter accepted = isTimedOut(searcher) ? null : accepted(searcher, rows, filter);
        ScoreDoc[] hits = accepted == null
                ? new ScoreDoc[0]
                : hits(table, answer(table.search(target, k, accepted), searcher), rows);
        return hits.length == 0
                ? new MatchNoDocsQuery("no row of " + table.name() + " is accepted, or found in time")
                : FoundDocuments.of(searcher.getIndexReader().getContext(), hits);
    }

    /** The rows that may be found; null if there are none. */
    private static @Nullable IdFilter accepted(IndexSearcher searcher, LiveDocuments rows, @Nullable Query filter)
            throws IOException {
        Query rewritten = filter == null ? MatchAllDocsQuery.INSTANCE : searcher.rewrite(filter);
        return switch (rewritten) {
            case MatchNoDocsQuery nothing -> null;
            case MatchAllDocsQuery all -> rows.all();
            default -> rows.matching(rewritten, searcher);
        };
    }

    private static boolean isTimedOut(IndexSearcher searcher) {
        return searcher.getTimeout() != null && searcher.getTimeout().shouldExit();
    }

    /** Waits for a search, or cancels it when the searcher's timeout has passed. */
    private static SearchResult answer(CompletableFuture<SearchResult> search, IndexSearcher searcher)
            throws IOException {
        try {
            while (searcher.getTimeout() != null && !search.isDone()) {
                if (searcher.getTimeout().shouldExit()) {
                    search.cancel(false);
                    return NOTHING;
                }
                awaitBriefly(search);
            }
            return search.get();
        } catch (ExecutionException e) {
            throw IOUtils.rethrowAlways(e.getCause());
        } catch (InterruptedException e) {
            search.cancel(false);
            throw new ThreadInterruptedException(e);
        }
    }

    private static void awaitBriefly(CompletableFuture<SearchResult> search)
            throws ExecutionException, InterruptedException {
        try {
            search.get(TIMEOUT_CHECK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException notYet) {
            // Lucene's timeout can only be asked.
        }
    }

    private static ScoreDoc[] hits(RoostTable table, SearchResult found, LiveDocuments rows) {
        ScoreDoc[] hits = new ScoreDoc[found.size()];
        for (int i = 0; i < hits.length; i++) {
            hits[i] = new ScoreDoc(rows.document(found.ids()[i]), table.score(found.distances()[i]));
        }
        return hits;
    }

    @Override
    public void visit(QueryVisitor visitor) {
        if (visitor.acceptField(table.idField())) {
            visitor.visitLeaf(this);
        }
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other)
                && other instanceof RoostKnnQuery that
                && table == that.table
                && k == that.k
                && Arrays.equals(target, that.target)
                && Objects.equals(filter, that.filter);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), System.identityHashCode(table), k, Arrays.hashCode(target), filter);
    }

    @Override
    public String toString(String field) {
        return "RoostKnnQuery:" + table.name() + "[" + target[0] + ",...][" + k + "]"
                + (filter == null ? "" : "[" + filter + "]");
    }
}
