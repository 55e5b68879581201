package io.github.roost.opensearch;

import io.github.roost.opensearch.RoostSettings.Slices;
import io.github.roost.opensearch.RoostSettings.StockGraphs;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opensearch.action.ActionRequest;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.lifecycle.LifecycleComponent;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.index.Index;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.env.NodeEnvironment;
import org.opensearch.index.IndexModule;
import org.opensearch.index.IndexSettings;
import org.opensearch.index.codec.CodecServiceFactory;
import org.opensearch.index.mapper.Mapper;
import org.opensearch.index.shard.IndexEventListener;
import org.opensearch.indices.breaker.BreakerSettings;
import org.opensearch.indices.cluster.IndicesClusterStateService.AllocatedIndices.IndexRemovalReason;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.CircuitBreakerPlugin;
import org.opensearch.plugins.EnginePlugin;
import org.opensearch.plugins.MapperPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.SearchPlugin;
import org.opensearch.repositories.RepositoriesService;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;
import org.opensearch.script.ScriptService;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.client.Client;
import org.opensearch.watcher.ResourceWatcherService;

/**
 * The OpenSearch plugin: the field type {@code roost_vector}, the query {@code roost_knn}, batches of searches under
 * {@code _plugins/_roost/search/INDEX}, attributes of hits, statistics under {@code _plugins/_roost/stats}, and one orchestrator per
 * node, whose workers run the slices of concurrent segment search.
 *
 * <p>Its names do not clash with other vector plugins' names. A node creates one instance.
 */
public final class RoostPlugin extends Plugin
        implements SearchPlugin, MapperPlugin, EnginePlugin, ActionPlugin, CircuitBreakerPlugin {
    private final RoostNode node;
    private final Slices slicesAtStart;
    /** Created when OpenSearch requests its index searcher executor, in the thread that starts the node. */
    private volatile @Nullable SliceExecutor slices;

    private final AttributesPhase attributes;

    /**
     * Creates the plugin and starts the workers.
     *
     * @param settings the node's settings
     */
    public RoostPlugin(Settings settings) {
        this.node = RoostNode.start(settings);
        this.slicesAtStart = RoostSettings.SLICES.get(settings);
        this.attributes = new AttributesPhase(node.tables());
    }

    @Override
    public List<Setting<?>> getSettings() {
        return RoostSettings.all();
    }

    @Override
    public Map<String, Mapper.TypeParser> getMappers() {
        return Map.of(RoostVectorMapper.TYPE, RoostVectorMapper.parser(node.builds()));
    }

    @Override
    public List<QuerySpec<?>> getQueries() {
        return List.of(new QuerySpec<>(
                RoostKnnQueryBuilder.NAME,
                in -> new RoostKnnQueryBuilder(node, in),
                parser -> RoostKnnQueryBuilder.parse(node, parser)));
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(attributes);
    }

    @Override
    public Optional<ExecutorServiceProvider> getIndexSearcherExecutorProvider() {
        return Optional.of(threadPool -> {
            SliceExecutor made = new SliceExecutor(
                    node.orchestrator(),
                    threadPool.executor(ThreadPool.Names.INDEX_SEARCHER),
                    threadPool.getThreadContext(),
                    slicesAtStart);
            slices = made;
            node.slices(made);
            return made;
        });
    }

    @Override
    public Optional<CodecServiceFactory> getCustomCodecServiceFactory(IndexSettings index) {
        return index.getValue(RoostSettings.INDEX_ENABLED) ? Optional.of(RoostCodecService::new) : Optional.empty();
    }

    @Override
    public Collection<Object> createComponents(
            Client client,
            ClusterService clusterService,
            ThreadPool threadPool,
            ResourceWatcherService resourceWatcherService,
            ScriptService scriptService,
            NamedXContentRegistry xContentRegistry,
            Environment environment,
            NodeEnvironment nodeEnvironment,
            NamedWriteableRegistry namedWriteableRegistry,
            IndexNameExpressionResolver indexNameExpressionResolver,
            Supplier<RepositoriesService> repositoriesServiceSupplier) {
        ClusterSettings changing = clusterService.getClusterSettings();
        changing.addSettingsUpdateConsumer(RoostSettings.EFFORT, node::effort);
        changing.addSettingsUpdateConsumer(RoostSettings.HOMES, node::homes);
        changing.addSettingsUpdateConsumer(RoostSettings.BUILDS, node::builds);
        changing.addSettingsUpdateConsumer(RoostSettings.SLICES, this::slices);
        changing.addSettingsUpdateConsumer(
                RoostSettings.BREAKER_LIMIT, limit -> node.memory().limit(limit.getBytes()));
        node.tables().readers(RoostSettings.TABLE_READERS.getAsMap(environment.settings()));
        changing.addAffixMapUpdateConsumer(RoostSettings.TABLE_READERS, node.tables()::readers, (_, _) -> {});
        threadPool.scheduleWithFixedDelay(
                node.memory()::countCopies, TimeValue.timeValueSeconds(10), ThreadPool.Names.GENERIC);
        if (nodeEnvironment.hasNodeFile()) {
            node.tables().begin(nodeEnvironment.nodeDataPaths()[0]);
            threadPool.scheduleWithFixedDelay(
                    node.tables()::look,
                    RoostSettings.TABLES_INTERVAL.get(environment.settings()),
                    ThreadPool.Names.GENERIC);
        }
        return List.of(node);
    }

    @Override
    public BreakerSettings getCircuitBreaker(Settings settings) {
        return SearchMemory.settings(settings);
    }

    @Override
    public void setCircuitBreaker(CircuitBreaker breaker) {
        node.memory().breaker(breaker);
    }

    @Override
    public Collection<Class<? extends LifecycleComponent>> getGuiceServiceClasses() {
        return List.of(SliceTracking.class);
    }

    private void slices(Slices value) {
        SliceExecutor made = slices;
        if (made != null) {
            made.slices(value);
        }
    }

    @Override
    public void onIndexModule(IndexModule index) {
        boolean stockGraphs = RoostSettings.STOCK_GRAPHS.get(index.getSettings()) == StockGraphs.ROOST;
        boolean vectors = RoostSettings.INDEX_ENABLED.get(index.getSettings());
        index.addSearchOperationListener(new SearchedIndex(index.getIndex().getName(), vectors || stockGraphs));
        index.addIndexEventListener(new IndexEventListener() {
            @Override
            public void afterIndexRemoved(Index removed, IndexSettings settings, IndexRemovalReason reason) {
                node.forget(removed.getName());
            }
        });
        if (vectors) {
            index.addSearchOperationListener(attributes);
        }
        if (stockGraphs) {
            index.setReaderWrapper(service -> node.wrapperOf(index.getIndex().getName()));
        }
    }

    @Override
    public List<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
        return List.of(
                new ActionHandler<>(RoostStats.ACTION, TransportRoostStats.class),
                new ActionHandler<>(RoostBatch.ACTION, TransportRoostBatch.class));
    }

    @Override
    public List<RestHandler> getRestHandlers(
            Settings settings,
            RestController restController,
            ClusterSettings clusterSettings,
            IndexScopedSettings indexScopedSettings,
            SettingsFilter settingsFilter,
            IndexNameExpressionResolver indexNameExpressionResolver,
            Supplier<DiscoveryNodes> nodesInCluster) {
        return List.of(new RestRoostStats(), new RestRoostMetrics(node), new RestRoostBatch(clusterSettings));
    }

    @Override
    public void close() {
        node.close();
    }
}
