package io.github.roost.bench.cachesim;

import io.github.roost.bench.locality.MadeUpMachine;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.Policy;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The tables in a guest, under a policy. As in {@code bench replay}, only Roost's own divides large HNSW tables into regions. Thread-safe. */
final class GuestTables implements AutoCloseable {
    /** As in an orchestrator's defaults. */
    private static final int SHORT_PER_LONG = 6;

    private static final int RING = 1 << 14;

    private final Orchestrator orchestrator;
    private final List<SearchOne> searches = new ArrayList<>();
    private final List<float[][]> queries = new ArrayList<>();

    /** Starts a search of one table. */
    @FunctionalInterface
    private interface SearchOne {
        CompletableFuture<SearchResult> start(float[] query);
    }

    GuestTables(GuestRun run, int count) throws IOException {
        boolean isPool = run.policy().equals(GuestRun.FORK_JOIN);
        ForkJoinPool pool = isPool ? pool(run) : ForkJoinPool.commonPool();
        this.orchestrator = isPool
                ? builder(new GuestRun(run.folder(), "v0", 1, 1, run.l3Bytes(), 0, 0, 1, 0, 1_000))
                        .build()
                : builder(run).build();
        SavedTables saved = new SavedTables(run.folder(), count);
        for (int table = 0; table < count; table++) {
            queries.add(saved.queries(table));
            String name = "table-" + table;
            if (saved.isIvf(table)) {
                IvfTable ivf = IvfTable.open(orchestrator, name, saved.file(table, true));
                searches.add(
                        isPool
                                ? onPool(pool, ivf.searchFunction(SavedTables.K, ivf.nprobe()))
                                : query -> ivf.search(query, SavedTables.K));
            } else {
                HnswTable hnsw = HnswTable.open(orchestrator, name, saved.file(table, false));
                searches.add(hnsw(run.policy(), hnsw, isPool ? pool : null, name));
            }
        }
    }

    private SearchOne hnsw(String policy, HnswTable table, @Nullable ForkJoinPool pool, String name) {
        SearchFunction<float[], SearchResult> whole = table.searchFunction(SavedTables.K, SavedTables.EF);
        if (pool != null) {
            return onPool(pool, whole);
        }
        if (policy.equals("roost")) {
            return query -> table.search(query, SavedTables.K, SavedTables.EF);
        }
        MappingId id = orchestrator.register(name + " as a whole").id();
        return query -> orchestrator.submit(whole, query, id);
    }

    private static SearchOne onPool(ForkJoinPool pool, SearchFunction<float[], SearchResult> search) {
        SearchContext uncounted = SearchContext.outside((nodes, bytes) -> {});
        return query -> CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return search.search(query, uncounted);
                    } catch (Exception failure) {
                        throw new CompletionException(failure);
                    }
                },
                pool);
    }

    /** Its threads have the names of workers, which tell the plugin their domain. */
    private static ForkJoinPool pool(GuestRun run) {
        AtomicInteger started = new AtomicInteger();
        int threads = run.domains() * run.workers();
        return new ForkJoinPool(
                threads,
                pool -> {
                    ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
                    int worker = started.getAndIncrement() % threads;
                    thread.setName("roost-worker-" + worker / run.workers() + "." + worker);
                    return thread;
                },
                null,
                false);
    }

    private static Orchestrator.Builder builder(GuestRun run) {
        Policy policy = Policy.parse(run.policy()).getFirst();
        return Orchestrator.builder()
                .recallShare(0)
                // Not read from a description by hwloc, whose start takes the emulator long.
                .topology(MadeUpMachine.topology(run.domains(), run.workers(), run.l3Bytes()))
                .pinner(MadeUpMachine::unpinned)
                .scheduling(policy.scheduling())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                .ringCapacity(RING)
                .windows(
                        Duration.ofMillis(run.windowMillis()),
                        Duration.ofMillis((long) SHORT_PER_LONG * run.windowMillis()))
                .crossDomainGate(new CrossDomainGate(run.gateMicros() * 1_000L))
                .groupRule(Objects.requireNonNullElse(policy.groups(), GroupRule.ALONE))
                .mappingPolicy(policy.rule().policy())
                .remapTrigger(policy.rule().trigger());
    }

    CompletableFuture<SearchResult> search(SavedTables.Search search) {
        return searches.get(search.table()).start(queries.get(search.table())[search.query()]);
    }

    OrchestratorStats stats() {
        return orchestrator.stats(0);
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
