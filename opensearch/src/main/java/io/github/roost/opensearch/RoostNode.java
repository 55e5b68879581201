package io.github.roost.opensearch;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.hnsw.graph.GraphSearch;
import io.github.roost.lucene.GraphBuilds;
import io.github.roost.lucene.RoostReader;
import io.github.roost.lucene.SegmentHomes;
import io.github.roost.opensearch.RoostSettings.Builds;
import io.github.roost.opensearch.RoostSettings.Homes;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.CheckedFunction;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.OpenSearchExecutors;
import org.opensearch.secure_sm.AccessController;
import org.opensearch.threadpool.RunnableTaskExecutionListener;

/**
 * The Roost state of a node: its orchestrator, the homes of its segments, and the dynamic settings. Thread-safe.
 */
final class RoostNode implements Closeable {
    private static final Logger LOG = LogManager.getLogger(RoostNode.class);

    private final NodeTopology machine;
    private final Orchestrator orchestrator;
    private final boolean homesPay;
    private final ConcurrentMap<String, SegmentHomes> homesOfIndexes = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, RoostReader.Graphs> graphsOfIndexes = new ConcurrentHashMap<>();
    private final GraphBuilds builds;
    private final SearchMemory memory = new SearchMemory();
    private final NodeTables tables = new NodeTables();
    /** Null until the node's start has created it. */
    private volatile @Nullable SliceExecutor slices;

    private volatile Homes homes;
    private volatile int effort;

    /** A vector search of one segment. */
    @FunctionalInterface
    interface LeafSearch {
        /** Finds the nearest vectors; the total hits of the result are the number of visited vectors. */
        TopDocs run() throws IOException;
    }

    private RoostNode(NodeTopology machine, Orchestrator orchestrator, Builds builds, Homes homes, int effort) {
        this.machine = machine;
        this.orchestrator = orchestrator;
        this.homesPay = SegmentHomes.pay(machine.topology());
        this.builds = GraphBuilds.on(orchestrator);
        this.homes = homes;
        this.effort = effort;
        builds(builds);
    }

    static RoostNode start(Settings settings) {
        int processors = OpenSearchExecutors.allocatedProcessors(settings);
        // Privileged, because callers on the stack during the start of a node may lack the plugin's grants.
        NodeTopology machine = AccessController.doPrivileged(() -> NodeTopology.choose(
                () -> live(RoostSettings.DOMAINS.get(settings)), processors, RoostSettings.PINNING.get(settings)));
        if (!machine.reason().isEmpty()) {
            LOG.warn("no worker is pinned: {}", machine.reason());
        }
        Orchestrator orchestrator = Orchestrator.builder()
                .topology(machine.topology())
                .overloadPolicy(OverloadPolicy.callerRuns())
                .build();
        LOG.info(
                "{} workers on {} cache domains of level {}",
                orchestrator.workers(),
                machine.topology().domains().size(),
                machine.topology().level());
        return new RoostNode(
                machine,
                orchestrator,
                RoostSettings.BUILDS.get(settings),
                RoostSettings.HOMES.get(settings),
                RoostSettings.EFFORT.get(settings));
    }

    private static Topology live(String level) {
        DomainLevel forced = level.isEmpty() ? null : RoostSettings.constant("roost.domains", level, DomainLevel.class);
        return TopologyReader.live().level(forced).withinQuota(false).read();
    }

    Orchestrator orchestrator() {
        return orchestrator;
    }

    NodeTopology machine() {
        return machine;
    }

    SearchMemory memory() {
        return memory;
    }

    /** The threads that build graphs of segments. */
    GraphBuilds builds() {
        return builds;
    }

    void builds(Builds value) {
        builds.onWorkers(value == Builds.ROOST);
    }

    NodeTables tables() {
        return tables;
    }

    /** Runs several searches in parallel, in the slice executor and in the waiting thread; before there is one, in the caller. */
    TaskExecutor together() {
        SliceExecutor executor = slices;
        return new TaskExecutor(executor == null ? Runnable::run : executor);
    }

    void slices(SliceExecutor executor) {
        slices = executor;
    }

    void tasks(RunnableTaskExecutionListener listener) {
        SliceExecutor executor = slices;
        if (executor != null) {
            executor.tasks(listener);
        }
    }

    /** Numbers of slices that Roost's workers have been given, by index. */
    Map<String, Long> slicesOfIndexes() {
        SliceExecutor executor = slices;
        return executor == null ? Map.of() : executor.submitted();
    }

    /** The default effort of searches. */
    int effort() {
        return effort;
    }

    void effort(int value) {
        effort = value;
    }

    void homes(Homes value) {
        homes = value;
    }

    /**
     * Searches a segment's vectors, on the segment's home domain if the {@code roost.homes} setting says so, and counts the traffic.
     *
     * @param index the segment's index
     * @param segment a segment of an open reader
     * @param vectorBytes bytes per vector
     * @param width width of the search
     * @param visitedLimit max vectors that a search with a filter visits, or {@link Integer#MAX_VALUE}
     * @throws org.opensearch.core.common.breaker.CircuitBreakingException if the searches of this node would take too much memory
     */
    TopDocs search(
            String index, LeafReader segment, int vectorBytes, int width, int visitedLimit, LeafSearch leafSearch)
            throws IOException {
        long bytes = GraphSearch.bytes(segment.maxDoc(), width, visitedLimit);
        memory.take(bytes);
        try {
            return search(index, segment, vectorBytes, leafSearch);
        } finally {
            memory.giveBack(bytes);
        }
    }

    private TopDocs search(String index, LeafReader segment, int vectorBytes, LeafSearch leafSearch)
            throws IOException {
        MappingId home = homeOf(index, segment);
        if (home == null) {
            return leafSearch.run();
        }
        if (!atHome()) {
            TopDocs found = leafSearch.run();
            orchestrator.indexing().touched(home, visited(found), visited(found) * vectorBytes);
            return found;
        }
        CompletableFuture<TopDocs> search = orchestrator.submit(
                (id, context) -> {
                    TopDocs found = leafSearch.run();
                    context.touched(visited(found), visited(found) * vectorBytes);
                    return found;
                },
                home,
                home);
        try {
            return search.get();
        } catch (ExecutionException e) {
            throw IOUtils.rethrowAlways(e.getCause());
        } catch (InterruptedException e) {
            search.cancel(false);
            throw new ThreadInterruptedException(e);
        }
    }

    private static long visited(TopDocs found) {
        return found.totalHits.value();
    }

    /** Whether segments are searched on their home domains. */
    private boolean atHome() {
        return switch (homes) {
            case AUTO -> homesPay;
            case ALWAYS -> true;
            case NEVER -> false;
        };
    }

    /** A segment's home, or null if no mapping id is left; then the segment is searched in the calling thread. */
    private @Nullable MappingId homeOf(String index, LeafReader segment) {
        try {
            return homesOfIndexes
                    .computeIfAbsent(index, name -> new SegmentHomes(orchestrator, name))
                    .idOf(segment);
        } catch (IllegalArgumentException noIdLeft) {
            return null;
        }
    }

    /**
     * The reader wrapper of an index with which Roost searches graphs in Lucene's own formats. Their cache is created when a reader is
     * wrapped, not before: OpenSearch also makes index services that have no shards and whose end it does not report, for example to
     * check a mapping.
     */
    CheckedFunction<DirectoryReader, DirectoryReader, IOException> wrapperOf(String index) {
        return reader ->
                RoostReader.over(reader, graphsOfIndexes.computeIfAbsent(index, name -> new RoostReader.Graphs()));
    }

    /** Per index with graphs in Lucene's own formats that Roost searches: the number of segments read. */
    Map<String, Object> segmentsWithStockGraphs() {
        Map<String, Object> segments = new TreeMap<>();
        graphsOfIndexes.forEach((index, graphs) -> segments.put(index, graphs.segments()));
        return segments;
    }

    /** Removes an index. The ids and memory of its segments are freed when their readers are closed. */
    void forget(String index) {
        homesOfIndexes.remove(index);
        graphsOfIndexes.remove(index);
        SliceExecutor executor = slices;
        if (executor != null) {
            executor.forget(index);
        }
    }

    @Override
    public void close() {
        tables.close();
        orchestrator.close();
    }
}
