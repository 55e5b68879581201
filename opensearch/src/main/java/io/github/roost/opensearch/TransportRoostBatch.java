package io.github.roost.opensearch;

import io.github.roost.lucene.filter.SharedFilter;
import io.github.roost.opensearch.RoostBatch.Hit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.jspecify.annotations.Nullable;
import org.opensearch.OpenSearchException;
import org.opensearch.action.NoShardAvailableActionException;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.broadcast.TransportBroadcastAction;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.block.ClusterBlockException;
import org.opensearch.cluster.block.ClusterBlockLevel;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.routing.GroupShardsIterator;
import org.opensearch.cluster.routing.ShardIterator;
import org.opensearch.cluster.routing.ShardRouting;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.common.lucene.search.Queries;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.index.IndexService;
import org.opensearch.index.engine.Engine;
import org.opensearch.index.fieldvisitor.FieldsVisitor;
import org.opensearch.index.query.BoolQueryBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.index.query.Rewriteable;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.indices.IndicesService;
import org.opensearch.search.SearchService;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/**
 * Transport action that runs a batch of searches: one message per shard, one list of hits per vector. The searches of a shard run in
 * parallel, in the slice executor and in the waiting thread, and share one evaluation of the filter. Public because OpenSearch
 * creates it. Thread-safe.
 */
public final class TransportRoostBatch
        extends TransportBroadcastAction<
                RoostBatch.Request, RoostBatch.Response, RoostBatch.ShardRequest, RoostBatch.ShardResponse> {
    private final RoostNode node;
    private final IndicesService indices;
    private final SearchService searches;

    /**
     * Called by OpenSearch.
     *
     * @param clusterService provides the shard routing
     * @param transportService sends messages to shards
     * @param filters action filters
     * @param resolver resolves index names
     * @param indices the indexes of this node
     * @param searches provides the filters of aliases
     * @param node the Roost state of this node
     */
    @Inject
    public TransportRoostBatch(
            ClusterService clusterService,
            TransportService transportService,
            ActionFilters filters,
            IndexNameExpressionResolver resolver,
            IndicesService indices,
            SearchService searches,
            RoostNode node) {
        super(
                RoostBatch.ACTION.name(),
                clusterService,
                transportService,
                filters,
                resolver,
                RoostBatch.Request::new,
                RoostBatch.ShardRequest::new,
                ThreadPool.Names.SEARCH);
        this.node = node;
        this.indices = indices;
        this.searches = searches;
    }

    @Override
    protected GroupShardsIterator<ShardIterator> shards(
            ClusterState state, RoostBatch.Request request, String[] concreteIndices) {
        return clusterService
                .operationRouting()
                .searchShards(
                        state,
                        concreteIndices,
                        indexNameExpressionResolver.resolveSearchRouting(state, null, request.indices()),
                        null);
    }

    @Override
    protected @Nullable ClusterBlockException checkGlobalBlock(ClusterState state, RoostBatch.Request request) {
        return state.blocks().globalBlockedException(ClusterBlockLevel.READ);
    }

    @Override
    protected @Nullable ClusterBlockException checkRequestBlock(
            ClusterState state, RoostBatch.Request request, String[] concreteIndices) {
        return state.blocks().indicesBlockedException(ClusterBlockLevel.READ, concreteIndices);
    }

    @Override
    protected RoostBatch.ShardRequest newShardRequest(int count, ShardRouting shard, RoostBatch.Request request) {
        ClusterState state = clusterService.state();
        Set<String> names = indexNameExpressionResolver.resolveExpressions(state, request.indices());
        return new RoostBatch.ShardRequest(
                shard.shardId(), request, searches.buildAliasFilter(state, shard.getIndexName(), names));
    }

    @Override
    protected RoostBatch.ShardResponse readShardResponse(StreamInput in) throws IOException {
        return new RoostBatch.ShardResponse(in);
    }

    @Override
    protected RoostBatch.ShardResponse shardOperation(RoostBatch.ShardRequest request, Task task) throws IOException {
        IndexService index = indices.indexServiceSafe(request.shardId().getIndex());
        IndexShard shard = index.getShard(request.shardId().id());
        refreshIfIdle(shard);
        new SearchedIndex(request.shardId().getIndexName()).begin();
        try (Engine.Searcher searcher = shard.acquireSearcher(RoostKnnQueryBuilder.NAME)) {
            QueryShardContext context =
                    index.newQueryShardContext(request.shardId().id(), searcher, System::currentTimeMillis, null);
            RoostKnnQueryBuilder query = request.query();
            List<Callable<List<Hit>>> each = new ArrayList<>();
            for (Query vector : query.eachQuery(context, shared(filter(request, context), query.vectors(), searcher))) {
                each.add(() -> hits(searcher, vector, query.k(), request));
            }
            return new RoostBatch.ShardResponse(
                    request.shardId(), node.together().invokeAll(each));
        } finally {
            SearchedIndex.end();
        }
    }

    /**
     * Makes the documents visible whose refresh OpenSearch postponed because the shard had not been searched for {@code
     * search.idle.after}. A search of OpenSearch's own waits for the next scheduled refresh, in no thread. This class has a thread
     * already, so it refreshes in it.
     */
    private static void refreshIfIdle(IndexShard shard) {
        CompletableFuture<Boolean> active = new CompletableFuture<>();
        shard.awaitShardSearchActive(active::complete);
        if (!active.isDone()) {
            shard.refresh(RoostKnnQueryBuilder.NAME);
        }
    }

    /** The conjunction of the query's filter, the alias filter and, for indexes with nested fields, root documents only; null for none. */
    private static @Nullable Query filter(RoostBatch.ShardRequest request, QueryShardContext context)
            throws IOException {
        BoolQueryBuilder all = new BoolQueryBuilder();
        for (QueryBuilder one : Arrays.asList(request.query().filter(), request.alias())) {
            if (one != null) {
                all.filter(Rewriteable.rewrite(one, context, true));
            }
        }
        if (context.getMapperService().hasNested()) {
            Query whole = Queries.newNonNestedFilter();
            return all.hasClauses() ? Queries.filtered(all.toQuery(context), whole) : whole;
        }
        return all.hasClauses() ? all.toQuery(context) : null;
    }

    /** The filter; of several vectors, evaluated before their searches begin: a search that waited for it would occupy a worker. */
    private @Nullable Query shared(@Nullable Query filter, int vectors, IndexSearcher searcher) throws IOException {
        if (filter == null || vectors == 1) {
            return filter;
        }
        SharedFilter shared = new SharedFilter(filter);
        shared.evaluate(searcher, node.together());
        return shared;
    }

    private static List<Hit> hits(IndexSearcher searcher, Query query, int k, RoostBatch.ShardRequest request)
            throws IOException {
        List<Hit> hits = new ArrayList<>();
        StoredFields stored = searcher.storedFields();
        for (ScoreDoc found : searcher.search(query, k).scoreDocs) {
            FieldsVisitor fields = new FieldsVisitor(request.source());
            stored.document(found.doc, fields);
            hits.add(new Hit(
                    request.shardId().getIndexName(),
                    fields.id(),
                    found.score,
                    request.source() ? fields.source() : null));
        }
        return hits;
    }

    /** Merges the hits of all shards; if a shard failed, the batch fails with the same exception. */
    @Override
    @SuppressWarnings("rawtypes") // OpenSearch's own signature
    protected RoostBatch.Response newResponse(
            RoostBatch.Request request, AtomicReferenceArray shards, ClusterState state) {
        List<RoostBatch.ShardResponse> responses = new ArrayList<>();
        for (int shard = 0; shard < shards.length(); shard++) {
            switch (shards.get(shard)) {
                case RoostBatch.ShardResponse response -> responses.add(response);
                case OpenSearchException failure -> throw failure;
                case null, default -> throw new NoShardAvailableActionException(null, "no copy of a shard is there");
            }
        }
        return new RoostBatch.Response(
                responses.size(),
                merged(request.query().vectors(), request.query().k(), responses));
    }

    /**
     * Merges the hits of shards.
     *
     * @param vectors number of vectors: without any shard, too, each has a list of hits
     * @param k max number of hits per vector
     */
    static List<List<Hit>> merged(int vectors, int k, List<RoostBatch.ShardResponse> shards) {
        List<List<Hit>> merged = new ArrayList<>();
        for (int i = 0; i < vectors; i++) {
            int list = i;
            merged.add(shards.stream()
                    .flatMap(shard -> shard.hits().get(list).stream())
                    .sorted(Comparator.comparing(Hit::score).reversed())
                    .limit(k)
                    .toList());
        }
        return merged;
    }
}
