package io.github.roost.opensearch;

import io.github.roost.opensearch.RoostBatch.Hit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.AlreadyClosedException;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.tasks.TaskCancelledException;
import org.opensearch.index.fieldvisitor.FieldsVisitor;
import org.opensearch.index.query.QueryShardException;
import org.opensearch.index.query.Rewriteable;
import org.opensearch.search.SearchService;
import org.opensearch.search.internal.ContextIndexSearcher;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.search.query.QueryPhase;

/**
 * The searches of a batch in one shard: in parallel, in the slice executor and in the calling thread. They end early after the request's
 * timeout, with the hits found so far, or when the task is canceled. Used for one batch.
 */
final class ShardBatch {
    private final RoostNode node;
    private final SearchContext context;
    private final RoostBatch.ShardRequest request;
    private final ContextIndexSearcher searcher;
    private final long began = System.nanoTime();
    /** Negative for none. */
    private final long timeoutNanos;

    private volatile boolean timedOut;

    ShardBatch(RoostNode node, SearchContext context, RoostBatch.ShardRequest request) throws IOException {
        this.node = node;
        this.context = context;
        this.request = request;
        TimeValue timeout = request.timeout();
        this.timeoutNanos = timeout.equals(SearchService.NO_TIMEOUT) ? -1 : timeout.nanos();
        ContextIndexSearcher shard = context.searcher();
        // Without an executor: the searches run in parallel already.
        this.searcher = new ContextIndexSearcher(
                shard.getIndexReader(),
                shard.getSimilarity(),
                shard.getQueryCache(),
                shard.getQueryCachingPolicy(),
                false,
                null,
                context);
        // The shard's searcher evaluates the filter, and its reader looks at its own cancellations.
        shard.addQueryCancellation(this::endIfDue);
        searcher.addQueryCancellation(this::endIfDue);
    }

    RoostBatch.ShardResponse run() throws IOException {
        List<List<Hit>> hits = hits();
        requireNotCancelled();
        return new RoostBatch.ShardResponse(request.shardId(), timedOut, hits);
    }

    private List<List<Hit>> hits() throws IOException {
        RoostKnnQueryBuilder query =
                (RoostKnnQueryBuilder) Rewriteable.rewrite(request.query(), context.getQueryShardContext(), true);
        List<Callable<List<Hit>>> each = new ArrayList<>();
        try {
            for (Query vector : queries(query)) {
                Query boosted = query.boost() == 1 ? vector : new BoostQuery(vector, query.boost());
                each.add(() -> hits(boosted, query.k()));
            }
        } catch (QueryPhase.TimeExceededException filterTookTooLong) {
            return Collections.nCopies(query.vectors(), List.of());
        }
        return node.together().invokeAll(each);
    }

    /** Says as OpenSearch's searches do that a query cannot be. */
    private List<Query> queries(RoostKnnQueryBuilder query) throws IOException {
        try {
            return query.queries(context.getQueryShardContext(), node.together());
        } catch (AlreadyClosedException closed) {
            throw closed;
        } catch (IllegalStateException | IndexSearcher.TooManyClauses refused) {
            throw new QueryShardException(
                    context.getQueryShardContext(), "failed to create query: {}", refused, refused.getMessage());
        }
    }

    private List<Hit> hits(Query query, int k) throws IOException {
        List<Hit> hits = new ArrayList<>();
        try {
            endIfDue();
            StoredFields stored = searcher.storedFields();
            for (ScoreDoc found : searcher.search(query, k).scoreDocs) {
                requireNotCancelled();
                FieldsVisitor fields = new FieldsVisitor(request.source());
                stored.document(found.doc, fields);
                hits.add(new Hit(
                        request.shardId().getIndexName(),
                        fields.id(),
                        found.score,
                        request.source() ? fields.source() : null));
            }
        } catch (QueryPhase.TimeExceededException ended) {
            // The hits so far are the answer.
        }
        return hits;
    }

    /** Called often during searches. */
    private void endIfDue() {
        requireNotCancelled();
        if (timeoutNanos >= 0 && System.nanoTime() - began > timeoutNanos) {
            timedOut = true;
            throw new QueryPhase.TimeExceededException();
        }
    }

    private void requireNotCancelled() {
        if (context.getTask().isCancelled()) {
            throw new TaskCancelledException(
                    "cancelled task with reason: " + context.getTask().getReasonCancelled());
        }
    }
}
