package io.github.roost.lucene;

import io.github.roost.core.Neighbors;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchResult;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;

/**
 * The k live documents whose vectors are nearest to a query, found in a table of Roost; what Lucene's
 * {@code KnnFloatVectorQuery} is to vectors in the index. It may stand wherever a query may, and scores as that one does.
 * Deleted documents, documents that a filter does not match, and rows that have no document in the searched reader do not
 * count among the k. Immutable.
 */
public final class RoostKnnQuery extends Query {
    private final RoostTable table;
    private final float[] target;
    private final int k;
    private final @Nullable Query filter;

    /**
     * Among all live documents.
     *
     * @param table that is asked
     * @param target finite, of the table's dimension; copied
     * @param k from 1 to 10,000
     * @throws IllegalArgumentException if one of them is not so
     */
    public RoostKnnQuery(RoostTable table, float[] target, int k) {
        this(table, target, k, null);
    }

    /**
     * Among the live documents that a filter matches.
     *
     * @param table that is asked
     * @param target finite, of the table's dimension; copied
     * @param k from 1 to 10,000
     * @param filter null for none
     * @throws IllegalArgumentException if one of them is not so
     */
    public RoostKnnQuery(RoostTable table, float[] target, int k, @Nullable Query filter) {
        table.require(target, k);
        this.table = table;
        this.target = target.clone();
        this.k = k;
        this.filter = filter;
    }

    /** Asks the table, once for all segments; what it found is the query that is left. */
    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        LiveRows rows = table.rowsOf(searcher.getIndexReader());
        IdFilter accepted = rows.all();
        if (filter != null) {
            Query rewritten = searcher.rewrite(filter);
            if (rewritten instanceof MatchNoDocsQuery) {
                return rewritten;
            }
            if (!(rewritten instanceof MatchAllDocsQuery)) {
                accepted = rows.matching(rewritten, searcher);
            }
        }
        ScoreDoc[] hits = hits(answer(accepted), rows);
        return hits.length == 0
                ? new MatchNoDocsQuery("no row of " + table.name() + " is accepted")
                : FoundDocuments.of(searcher.getIndexReader().getContext(), hits);
    }

    private Neighbors answer(IdFilter accepted) throws IOException {
        CompletableFuture<SearchResult> search = table.search(target, k, accepted);
        try {
            return search.get().neighbors();
        } catch (ExecutionException e) {
            throw IOUtils.rethrowAlways(e.getCause());
        } catch (InterruptedException e) {
            search.cancel(false);
            throw new ThreadInterruptedException(e);
        }
    }

    private ScoreDoc[] hits(Neighbors found, LiveRows rows) {
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
