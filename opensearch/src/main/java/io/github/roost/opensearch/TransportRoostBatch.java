package io.github.roost.opensearch;

import io.github.roost.opensearch.RoostBatch.Hit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.opensearch.OpenSearchException;
import org.opensearch.action.NoShardAvailableActionException;
import org.opensearch.action.search.SearchShardTask;
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
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.Rewriteable;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.indices.IndicesService;
import org.opensearch.search.SearchService;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/**
 * Transport action that runs a batch of searches: one message per shard, one list of hits per vector ({@link
 * ShardBatch}). Public because OpenSearch creates it. Thread-safe.
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

    /** Completes a filter that needs other documents, such as a terms lookup, here: waiting for them takes no thread. */
    @Override
    protected void doExecute(Task task, RoostBatch.Request request, ActionListener<RoostBatch.Response> listener) {
        Rewriteable.rewriteAndFetch(
                (QueryBuilder) request.query(),
                searches.getRewriteContext(System::currentTimeMillis, request),
                ActionListener.wrap(
                        query -> super.doExecute(task, request.with((RoostKnnQueryBuilder) query), listener),
                        listener::onFailure));
    }

    /** The query for a shard has the filters of the aliases by which the request names the shard's index. */
    @Override
    protected RoostBatch.ShardRequest newShardRequest(int count, ShardRouting shard, RoostBatch.Request request) {
        ClusterState state = clusterService.state();
        Set<String> names = indexNameExpressionResolver.resolveExpressions(state, request.indices());
        QueryBuilder filter =
                searches.buildAliasFilter(state, shard.getIndexName(), names).getQueryBuilder();
        return new RoostBatch.ShardRequest(
                shard.shardId(),
                request,
                filter == null ? request.query() : request.query().filter(filter));
    }

    @Override
    protected RoostBatch.ShardResponse readShardResponse(StreamInput in) throws IOException {
        return new RoostBatch.ShardResponse(in);
    }

    @Override
    protected RoostBatch.ShardResponse shardOperation(RoostBatch.ShardRequest request, Task task) throws IOException {
        refreshIfIdle(indices.indexServiceSafe(request.shardId().getIndex())
                .getShard(request.shardId().id()));
        try (SearchContext context = searches.createSearchContext(request.search(), SearchService.NO_TIMEOUT)) {
            context.setTask((SearchShardTask) task);
            return counted(context, request);
        }
    }

    /** Searches as OpenSearch's query phase does: for its statistics, its slow log and {@link SearchedIndex}. */
    private RoostBatch.ShardResponse counted(SearchContext context, RoostBatch.ShardRequest request)
            throws IOException {
        SearchOperationListener listener = context.indexShard().getSearchOperationListener();
        long began = System.nanoTime();
        listener.onPreQueryPhase(context);
        try {
            RoostBatch.ShardResponse response = new ShardBatch(node, context, request).run();
            listener.onQueryPhase(context, System.nanoTime() - began);
            return response;
        } catch (Throwable failure) {
            listener.onFailedQueryPhase(context);
            throw failure;
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
                responses.stream().anyMatch(RoostBatch.ShardResponse::timedOut),
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
