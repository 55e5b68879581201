package io.github.roost.rows;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads rows in searches, with readers from the table's pool. Thread-safe. */
final class RowFetch {
    private final VersionedRows table;
    /** The version, or 0 for the current one. */
    private final long of;

    private final long maxBytes;
    private final List<String> columns;

    RowFetch(VersionedRows table, List<String> columns) {
        this(table, 0, Long.MAX_VALUE, columns);
    }

    RowFetch(VersionedRows table, long of, long maxBytes, List<String> columns) {
        this.table = table;
        this.of = of;
        this.maxBytes = maxBytes;
        this.columns = columns;
    }

    /** A search that fetches the rows of its keys. */
    Search<long[], RowBatch> search() {
        return (keys, context) -> {
            context.touched(keys.length, 0);
            return step(keys, Function.identity(), context);
        };
    }

    /** Reads the rows of keys, in several slices if some are cold, and returns the result of {@code then}. */
    <Q, R> Step<Q, R> step(long[] keys, Function<RowBatch, R> then, SearchContext context) {
        RowBatch rows = RowBatch.onHeap();
        ColdFetch cold = begin(keys, rows, context);
        return cold == null ? Step.done(then.apply(rows)) : resume(cold, rows, then, context);
    }

    private <Q, R> Step<Q, R> resume(ColdFetch cold, RowBatch rows, Function<RowBatch, R> then, SearchContext context) {
        if (!cold.hasMore()) {
            cold.finish();
            return Step.done(then.apply(rows));
        }
        Search<Q, R> next = (query, later) -> resume(cold, rows, then, later);
        return cold.begin(context) ? new Step.Park<>(cold.arrival(), next) : new Step.Yield<>(next);
    }

    /** Reads the rows of keys within this slice; while cold rows are read, the worker runs other tasks. */
    RowBatch now(long[] keys, SearchContext context) {
        RowBatch rows = RowBatch.onHeap();
        ColdFetch cold = begin(keys, rows, context);
        if (cold != null) {
            while (cold.hasMore()) {
                if (cold.begin(context)) {
                    await(cold);
                } else {
                    // Other searches use all buffers. Some may be below on this stack, so do not wait for them.
                    cold.readBlocking();
                }
            }
            cold.finish();
        }
        return rows;
    }

    private void await(ColdFetch cold) {
        ValueMemory memory = table.valueMemory();
        if (memory == null) {
            throw new IllegalStateException("a table whose values are all in memory reads none");
        }
        CompletableFuture<@Nullable Void> arrived =
                memory.orchestrator().indexing().newFuture();
        var arrival = cold.arrival();
        Runnable end = () -> {
            Throwable failure = arrival.failure();
            if (failure == null) {
                arrived.complete(null);
            } else {
                arrived.completeExceptionally(failure);
            }
        };
        if (!arrival.await(end::run)) {
            end.run();
        }
        arrived.join();
    }

    private @Nullable ColdFetch begin(long[] keys, RowBatch rows, SearchContext context) {
        rows.limitTo(maxBytes);
        RowReads reads = table.borrowReads();
        try {
            return reads.begin(of, keys, rows, columns, context);
        } finally {
            table.giveBack(reads);
        }
    }
}
