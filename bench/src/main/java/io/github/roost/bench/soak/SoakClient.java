package io.github.roost.bench.soak;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.Merger;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** One submitter of a soak: a table at a time, some searches of it, some of them sabotaged. */
final class SoakClient implements Runnable {
    private static final int SEARCHES_PER_TABLE = 50;
    private static final int MOST_IN_FLIGHT = 2_000;
    private static final int MOST_FAILURES_KEPT = 10;

    private final Orchestrator orchestrator;
    private final Random random;
    private final long end;
    private final AtomicLong futures = new AtomicLong();
    private final AtomicLong completions = new AtomicLong();
    private final AtomicLong tasks = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();

    SoakClient(Orchestrator orchestrator, long seed, long end) {
        this.orchestrator = orchestrator;
        this.random = new Random(seed);
        this.end = end;
    }

    long futures() {
        return futures.get();
    }

    long unfinished() {
        return futures.get() - completions.get();
    }

    long tasks() {
        return tasks.get();
    }

    long refused() {
        return refused.get();
    }

    Iterable<String> failures() {
        return failures;
    }

    @Override
    public void run() {
        while (System.nanoTime() < end) {
            try {
                searchOneTable();
            } catch (RejectedSearchException closed) {
                return;
            } catch (RuntimeException | Error unexpected) {
                fail("a submitter saw " + unexpected);
            }
            while (unfinished() > MOST_IN_FLIGHT && System.nanoTime() < end) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    private void searchOneTable() {
        int clusters = 1 + random.nextInt(6);
        try (Registration table = orchestrator.register("soak", clusters)) {
            for (int i = 0; i < SEARCHES_PER_TABLE; i++) {
                try {
                    CompletableFuture<?> future = random.nextInt(4) == 0 ? fanOut(table) : submit(table);
                    watch(future);
                    if (random.nextInt(10) == 0) {
                        future.cancel(false);
                    }
                } catch (RejectedSearchException refusal) {
                    refused.incrementAndGet();
                }
            }
        }
    }

    /** A future that completed twice would run its dependents twice; one that never does leaves a difference. */
    private void watch(CompletableFuture<?> future) {
        futures.incrementAndGet();
        AtomicInteger times = new AtomicInteger();
        var _ = future.whenComplete((result, failure) -> {
            completions.incrementAndGet();
            if (times.incrementAndGet() > 1) {
                fail("a future completed twice");
            }
        });
    }

    private CompletableFuture<?> submit(Registration table) {
        int query = random.nextInt(1_000);
        CompletableFuture<Integer> future =
                orchestrator.submit(search(table), query, table.id(random.nextInt(table.clusters())), options());
        tasks.incrementAndGet();
        return future;
    }

    private CompletableFuture<?> fanOut(Registration table) {
        List<Part<Integer, Integer>> parts = IntStream.range(0, table.clusters())
                .mapToObj(cluster -> new Part<>(search(table), random.nextInt(1_000), table.id(cluster)))
                .toList();
        boolean mergerThrows = random.nextInt(10) == 0;
        Merger<Integer, Integer> merger = results -> {
            if (mergerThrows) {
                throw new IllegalStateException("merger");
            }
            return results.size();
        };
        CompletableFuture<Integer> future = orchestrator.fanOut(parts, merger, options());
        tasks.addAndGet(parts.size());
        return future;
    }

    private SubmitOptions options() {
        SubmitOptions options = random.nextBoolean() ? SubmitOptions.DEFAULT : SubmitOptions.BATCH;
        return random.nextInt(5) == 0 ? options.withTimeout(Duration.ofNanos(1 + random.nextInt(200_000))) : options;
    }

    private SearchFunction<Integer, Integer> search(Registration table) {
        return (query, context) -> {
            context.touched(1, query);
            if (query < 20) {
                throw new IllegalStateException("search");
            }
            if (query < 30) {
                throw new AssertionError("search");
            }
            if (query < 32) {
                return endlessly(query);
            }
            if (query < 60) {
                Thread.currentThread().interrupt();
            }
            if (query < 160) {
                return nested(table, query);
            }
            return query < 170 ? untilToldToStop(context) : query;
        };
    }

    @SuppressWarnings("InfiniteRecursion") // a stack overflow is what is wanted
    private static int endlessly(int query) {
        return endlessly(query + 1) + 1;
    }

    private int nested(Registration table, int query) {
        if (!table.isOpen()) {
            return query;
        }
        CompletableFuture<Integer> inner;
        try {
            inner = orchestrator.submit((q, context) -> q + 1, query, table.id(query % table.clusters()));
        } catch (RejectedSearchException | IllegalArgumentException fullOrUnregistered) {
            return query;
        }
        tasks.incrementAndGet();
        return inner.join();
    }

    /** Works for up to a millisecond, unless its deadline passes or nobody waits for it any more. */
    private static int untilToldToStop(SearchContext context) {
        long stop = System.nanoTime() + ThreadLocalRandom.current().nextLong(1_000_000);
        while (System.nanoTime() < stop && !context.expired()) {
            Thread.onSpinWait();
        }
        return 0;
    }

    private void fail(String failure) {
        if (failures.size() < MOST_FAILURES_KEPT) {
            failures.add(failure);
        }
    }
}
