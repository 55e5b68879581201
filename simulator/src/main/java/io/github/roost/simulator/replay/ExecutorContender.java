package io.github.roost.simulator.replay;

import io.github.roost.core.SearchContext;
import io.github.roost.vector.SearchResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;

/** The same searches as tasks of one of the JDK's pools: each search runs on one thread, for IVF with all its lists. */
final class ExecutorContender implements ReplayContender {
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final String name;
    private final ExecutorService executor;
    private final ReplayTables tables;

    ExecutorContender(String name, ExecutorService executor, ReplayTables tables) {
        this.name = name;
        this.executor = executor;
        this.tables = tables;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public CompletableFuture<SearchResult> search(int table, int target) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return tables.searchFunction(table).search(tables.target(table, target), UNCOUNTED);
                    } catch (Exception failure) {
                        throw new CompletionException(failure);
                    }
                },
                executor);
    }

    @Override
    public Scheduled scheduled() {
        return Scheduled.NOTHING;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
