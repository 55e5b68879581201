package io.github.roost.opensearch;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.task.MappingId;
import io.github.roost.lucene.RoostReader;
import io.github.roost.lucene.SegmentHomes;
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
import java.util.concurrent.Executor;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.OpenSearchExecutors;
import org.opensearch.secure_sm.AccessController;

/**
 * What a node has of Roost: one orchestrator, the homes of its segments, and the settings that may change while it runs.
 * Thread-safe.
 */
final class RoostNode implements Closeable {
    private static final Logger LOG = LogManager.getLogger(RoostNode.class);

    private final NodeTopology machine;
    private final Orchestrator orchestrator;
    private final ConcurrentMap<String, SegmentHomes> homesOfIndexes = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, RoostReader.Graphs> graphsOfIndexes = new ConcurrentHashMap<>();
    private final SearchMemory memory = new SearchMemory();
    private final NodeTables tables = new NodeTables();
    /** Runs what belongs together in its caller, until it is known who runs slices. */
    private volatile TaskExecutor together = new TaskExecutor(Runnable::run);

    private volatile Homes homes;
    private volatile int effort;

    /** The walk of one segment's vectors. */
    @FunctionalInterface
    interface Walk {
        /** Finds the nearest; what it returns counts as hits all vectors that it visited. */
        TopDocs run() throws IOException;
    }

    private RoostNode(NodeTopology machine, Orchestrator orchestrator, Homes homes, int effort) {
        this.machine = machine;
        this.orchestrator = orchestrator;
        this.homes = homes;
        this.effort = effort;
    }

    static RoostNode start(Settings settings) {
        int processors = OpenSearchExecutors.allocatedProcessors(settings);
        // Whatever is on the stack while a node starts need not have the grants of this plugin.
        NodeTopology machine = AccessController.doPrivileged(() -> NodeTopology.choose(
                () -> live(RoostSettings.DOMAINS.get(settings)), processors, RoostSettings.PINNING.get(settings)));
        if (!machine.reason().isEmpty()) {
            LOG.warn("one cache domain of {} workers, none of them pinned: {}", processors, machine.reason());
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
                machine, orchestrator, RoostSettings.HOMES.get(settings), RoostSettings.EFFORT.get(settings));
    }

    private static Topology live(String level) {
        DomainLevel forced = level.isEmpty() ? null : RoostSettings.constant("roost.domains", level, DomainLevel.class);
        return TopologyReader.live().level(forced).read();
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

    NodeTables tables() {
        return tables;
    }

    /** Runs searches that belong together, and the thread that waits for them with it. */
    TaskExecutor together() {
        return together;
    }

    void slices(Executor slices) {
        together = new TaskExecutor(slices);
    }

    /** The width of searches that name no effort. */
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
     * Walks a segment's vectors, at the segment's home where that is said to pay, and counts the traffic.
     *
     * @param index that the segment belongs to
     * @param segment of an open reader
     * @param vectorBytes bytes of one vector
     * @param width of the walk
     * @throws org.opensearch.core.common.breaker.CircuitBreakingException if the walks of this node take too much memory
     */
    TopDocs walk(String index, LeafReader segment, int vectorBytes, int width, Walk walk) throws IOException {
        long bytes = SearchMemory.bytes(segment.maxDoc(), width);
        memory.take(bytes);
        try {
            return walk(index, segment, vectorBytes, walk);
        } finally {
            memory.giveBack(bytes);
        }
    }

    private TopDocs walk(String index, LeafReader segment, int vectorBytes, Walk walk) throws IOException {
        MappingId home = homeOf(index, segment);
        if (home == null) {
            return walk.run();
        }
        if (!atHome()) {
            TopDocs found = walk.run();
            orchestrator.indexing().touched(home, visited(found), visited(found) * vectorBytes);
            return found;
        }
        CompletableFuture<TopDocs> search = orchestrator.submit(
                (id, context) -> {
                    TopDocs found = walk.run();
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

    /** On one domain every worker is at home everywhere: the hop there and back would buy nothing. */
    private boolean atHome() {
        return switch (homes) {
            case AUTO -> machine.topology().domains().size() > 1;
            case ALWAYS -> true;
            case NEVER -> false;
        };
    }

    /** Null where the node has more segments than there are mapping ids, which are then searched by whoever asks. */
    private @Nullable MappingId homeOf(String index, LeafReader segment) {
        try {
            return homesOfIndexes
                    .computeIfAbsent(index, name -> new SegmentHomes(orchestrator, name))
                    .idOf(segment);
        } catch (IllegalArgumentException noIdLeft) {
            return null;
        }
    }

    /** The graphs of Lucene's own formats that Roost walks in an index. */
    RoostReader.Graphs graphsOf(String index) {
        return graphsOfIndexes.computeIfAbsent(index, name -> new RoostReader.Graphs());
    }

    /** Of each index whose graphs Roost walks though Lucene wrote them, how many segments have been read. */
    Map<String, Object> segmentsWithStockGraphs() {
        Map<String, Object> segments = new TreeMap<>();
        graphsOfIndexes.forEach((index, graphs) -> segments.put(index, graphs.segments()));
        return segments;
    }

    /** Forgets an index. Its segments give their ids and their memory back when their readers are closed. */
    void forget(String index) {
        homesOfIndexes.remove(index);
        graphsOfIndexes.remove(index);
    }

    @Override
    public void close() {
        tables.close();
        orchestrator.close();
    }
}
