package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * Chains of searches of one table: each search submits the next from the worker that ran it, so that no driver takes a
 * core. A search reads {@value #ROWS_PER_SEARCH} random rows of {@value #ROW_FLOATS} floats. Thread-safe.
 */
final class TableLoad {
    private static final int ROW_FLOATS = 128;
    private static final int ROWS_PER_SEARCH = 400;

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final long end;
    private final LongConsumer searched;
    private final float[] table;

    /**
     * @param tableBytes size of the table
     * @param end time after which no more searches start, by {@link System#nanoTime()}
     * @param searched receives the nanoseconds from submission to completion of every search
     */
    TableLoad(Orchestrator orchestrator, Registration registration, int tableBytes, long end, LongConsumer searched) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.end = end;
        this.searched = searched;
        this.table = new float[tableBytes / Float.BYTES / ROW_FLOATS * ROW_FLOATS];
        Arrays.fill(table, 1f);
    }

    /** Starts one chain of searches; the future completes when the time is up. */
    CompletableFuture<Void> start(long seed) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        next(seed, done);
        return done;
    }

    private void next(long seed, CompletableFuture<Void> done) {
        long submitted = System.nanoTime();
        var _ = orchestrator.submit(this::search, seed, registration.id()).whenComplete((sum, failure) -> {
            if (failure != null) {
                done.completeExceptionally(failure);
                return;
            }
            long now = System.nanoTime();
            searched.accept(now - submitted);
            if (now >= end) {
                done.complete(null);
            } else {
                next(seed + 1_000, done);
            }
        });
    }

    private double search(long seed, SearchContext context) {
        SplittableRandom random = new SplittableRandom(seed);
        int rows = table.length / ROW_FLOATS;
        double sum = 0;
        for (int i = 0; i < ROWS_PER_SEARCH; i++) {
            sum += squares(random.nextInt(rows) * ROW_FLOATS);
        }
        context.touched(ROWS_PER_SEARCH, (long) ROWS_PER_SEARCH * ROW_FLOATS * Float.BYTES);
        return sum;
    }

    /** Reads each cache line of a row once, in four sums, so that memory rather than additions limits the speed. */
    private double squares(int base) {
        float a = 0;
        float b = 0;
        float c = 0;
        float d = 0;
        for (int i = base; i < base + ROW_FLOATS; i += 16) {
            a += table[i];
            b += table[i + 4];
            c += table[i + 8];
            d += table[i + 12];
        }
        return a + b + c + d;
    }
}
