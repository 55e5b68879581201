package io.github.roost.core;

import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Indexing.GroupSearch.Group;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * One submitter of a soak test: registers one table at a time and submits some searches to it, some of which fail on
 * purpose, and some of which wait for searches of another orchestrator.
 */
final class SoakClient implements Runnable {
    private static final int SEARCHES_PER_TABLE = 50;
    private static final int MAX_IN_FLIGHT = 2_000;
    private static final int MAX_FAILURES_KEPT = 10;
    /** Turns of a search that takes many. */
    private static final int TURNS = 100;

    private static final int MAX_BLOCKED_SECONDS = 20;

    /**
     * An orchestrator that clients submit to.
     *
     * @param table a table that stays open, for the searches that searches of other orchestrators wait for
     * @param tasks tasks accepted from all clients
     * @param groups upper bound of the tasks of batch queues: one per query
     */
    record Target(Orchestrator orchestrator, Registration table, AtomicLong tasks, AtomicLong groups) {
        static Target of(Orchestrator orchestrator) {
            return new Target(orchestrator, orchestrator.register("open"), new AtomicLong(), new AtomicLong());
        }
    }

    private final Target target;
    private final Target other;
    private final Orchestrator orchestrator;
    private final Random random;
    private final long end;
    private final AtomicLong futures = new AtomicLong();
    private final AtomicLong completions = new AtomicLong();
    private final AtomicLong tasks;
    private final AtomicLong refused = new AtomicLong();
    /** Each once. */
    private final Set<String> failures = ConcurrentHashMap.newKeySet();

    /**
     * @param target receives the submissions
     * @param other receives searches that searches of the target wait for
     */
    SoakClient(Target target, Target other, long seed, long end) {
        this.target = target;
        this.other = other;
        this.orchestrator = target.orchestrator();
        this.tasks = target.tasks();
        this.random = new Random(seed);
        this.end = end;
    }

    long futures() {
        return futures.get();
    }

    long unfinished() {
        return futures.get() - completions.get();
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
            } catch (OrchestratorClosedException closed) {
                return;
            } catch (RuntimeException | Error unexpected) {
                fail("a submitter saw " + unexpected);
            }
            while (unfinished() > MAX_IN_FLIGHT && System.nanoTime() < end) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    private void searchOneTable() {
        int ids = 1 + random.nextInt(6);
        try (Registration table = orchestrator.register("soak", ids)) {
            for (int i = 0; i < SEARCHES_PER_TABLE; i++) {
                try {
                    CompletableFuture<?> future = any(table);
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

    private CompletableFuture<?> any(Registration table) {
        return switch (random.nextInt(11)) {
            case 0, 1 -> fanOut(table);
            case 2, 3 -> steps(table);
            case 4 -> shared(table);
            case 5 -> maintenance(table);
            case 6 -> turns(table);
            default -> submit(table);
        };
    }

    /** Detects a future that completes twice, whose dependents would run twice, and one that never completes. */
    private void watch(CompletableFuture<?> future) {
        futures.incrementAndGet();
        AtomicInteger times = new AtomicInteger();
        int how = random.nextInt(400);
        var _ = future.whenComplete((result, failure) -> {
            if (times.incrementAndGet() > 1) {
                fail("a future completed twice");
            }
            block(how);
            completions.incrementAndGet();
        });
    }

    /** Some dependents block the thread that runs them: asleep, or until another thread goes on. */
    private void block(int how) {
        try {
            if (how == 0) {
                TimeUnit.MILLISECONDS.sleep(1);
            } else if (how == 1) {
                CountDownLatch latch = new CountDownLatch(1);
                // Of its own: a thread of a pool may be one that runs a dependent that blocks.
                Thread.ofVirtual().start(latch::countDown);
                if (!latch.await(MAX_BLOCKED_SECONDS, TimeUnit.SECONDS)) {
                    fail("a dependent waited in vain for another thread");
                }
            }
        } catch (InterruptedException e) {
            // A search that ran before in this thread may have left it interrupted.
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<?> submit(Registration table) {
        int query = random.nextInt(1_000);
        CompletableFuture<Integer> future =
                orchestrator.submit(search(table), query, table.id(random.nextInt(table.size())), options());
        tasks.incrementAndGet();
        return future;
    }

    private CompletableFuture<?> fanOut(Registration table) {
        List<Part<Integer, Integer>> parts = IntStream.range(0, table.size())
                .mapToObj(index -> new Part<>(search(table), random.nextInt(1_000), table.id(index)))
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

    /** A search of several slices. A search that may wait for a {@code Pending} that never completes has a deadline. */
    private CompletableFuture<?> steps(Registration table) {
        int left = 1 + random.nextInt(5);
        boolean mayWaitForEver = random.nextInt(10) == 0;
        SubmitOptions options = mayWaitForEver
                ? SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1 + random.nextInt(5)))
                : options();
        CompletableFuture<Integer> future = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> step(table, left, mayWaitForEver, context),
                        0,
                        table.id(random.nextInt(table.size())),
                        options);
        tasks.incrementAndGet();
        return future;
    }

    /** A search of many turns of either priority: it yields, or parks for bytes that have arrived. */
    private CompletableFuture<?> turns(Registration table) {
        boolean parks = random.nextBoolean();
        CompletableFuture<Integer> future = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> turn(TURNS, parks),
                        0,
                        table.id(random.nextInt(table.size())),
                        random.nextBoolean() ? SubmitOptions.DEFAULT : SubmitOptions.BATCH);
        tasks.incrementAndGet();
        return future;
    }

    private static Step<Integer, Integer> turn(int left, boolean parks) {
        if (left == 0) {
            return Step.done(0);
        }
        Search<Integer, Integer> next = (query, context) -> turn(left - 1, parks);
        if (!parks) {
            return new Step.Yield<>(next);
        }
        Pending pending = new Pending();
        pending.complete();
        return new Step.Park<>(pending, next);
    }

    private Step<Integer, Integer> step(Registration table, int left, boolean mayWaitForEver, SearchContext context) {
        context.touched(1, 10);
        if (left == 0) {
            return Step.done(0);
        }
        ThreadLocalRandom chance = ThreadLocalRandom.current();
        Search<Integer, Integer> next = (query, then) -> step(table, left - 1, mayWaitForEver, then);
        return switch (chance.nextInt(5)) {
            case 0 -> new Step.Yield<>(next);
            case 1, 2 -> new Step.Park<>(pending(mayWaitForEver), next);
            case 3 -> {
                List<Part<Integer, Integer>> parts = IntStream.range(0, table.size())
                        .mapToObj(index -> new Part<>(search(table), chance.nextInt(1_000), table.id(index)))
                        .toList();
                tasks.addAndGet(parts.size());
                yield new Step.Fork<Integer, Object, Integer, Integer>(
                        parts, List.of(), null, (query, results, then) -> step(table, left - 1, mayWaitForEver, then));
            }
            default -> throw new IllegalStateException("step");
        };
    }

    /** A {@code Pending} that is completed at once, later, twice, exceptionally, or never. */
    private static Pending pending(boolean orNever) {
        Pending pending = new Pending();
        ThreadLocalRandom chance = ThreadLocalRandom.current();
        switch (chance.nextInt(orNever ? 5 : 4)) {
            case 0 -> pending.complete();
            case 1 -> later(pending::complete);
            case 2 -> {
                later(pending::complete);
                later(pending::complete);
            }
            case 3 -> later(() -> pending.completeExceptionally(new IllegalStateException("pending")));
            default -> {}
        }
        return pending;
    }

    private static void later(Runnable completion) {
        CompletableFuture.delayedExecutor(ThreadLocalRandom.current().nextInt(500), TimeUnit.MICROSECONDS)
                .execute(completion);
    }

    /** Submits a query to a batch queue, along with a few others. */
    private CompletableFuture<?> shared(Registration table) {
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator
                .indexing()
                .batchQueue(table.id(random.nextInt(table.size())), (group, context) -> serve(group, context));
        target.groups().addAndGet(4);
        for (int i = 0; i < 3; i++) {
            watch(orchestrator.indexing().submitShared(queue, random.nextInt(100), options()));
        }
        return orchestrator.indexing().submitShared(queue, random.nextInt(100), options());
    }

    private static Step<Group<Integer, Integer>, Boolean> serve(Group<Integer, Integer> group, SearchContext context) {
        for (int i = 0; i < group.size(); i++) {
            int query = group.query(i);
            if (query < 10) {
                group.fail(i, new IllegalStateException("query"));
            } else if (query == 10) {
                throw new IllegalStateException("group");
            } else {
                group.answer(i, query);
            }
        }
        context.touched(group.size(), 100);
        return ThreadLocalRandom.current().nextInt(4) == 0
                ? new Step.Park<>(pending(false), (same, then) -> Step.done(true))
                : Step.done(true);
    }

    private CompletableFuture<?> maintenance(Registration table) {
        AtomicInteger left = new AtomicInteger(random.nextInt(20));
        CompletableFuture<?> future = orchestrator
                .indexing()
                .maintenance(table.id(random.nextInt(table.size())), context -> {
                    if (left.get() == 7) {
                        throw new IllegalStateException("maintenance");
                    }
                    return left.decrementAndGet() > 0;
                });
        tasks.incrementAndGet();
        return future;
    }

    private SubmitOptions options() {
        SubmitOptions options = random.nextBoolean() ? SubmitOptions.DEFAULT : SubmitOptions.BATCH;
        return random.nextInt(5) == 0 ? options.withTimeout(Duration.ofNanos(1 + random.nextInt(200_000))) : options;
    }

    private SearchFunction<Integer, Integer> search(Registration table) {
        return (query, context) -> {
            context.touched(1, query);
            checkPlace(target, context);
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
            if (query < 140) {
                return nested(table, query);
            }
            if (query < 160) {
                return elsewhere(query);
            }
            return query < 170 ? untilToldToStop(context) : query;
        };
    }

    @SuppressWarnings("InfiniteRecursion") // the stack overflow is intended
    private static int endlessly(int query) {
        return endlessly(query + 1) + 1;
    }

    private int nested(Registration table, int query) {
        if (!table.isOpen()) {
            return query;
        }
        CompletableFuture<Integer> inner;
        try {
            inner = orchestrator.submit((q, context) -> q + 1, query, table.id(query % table.size()));
        } catch (RejectedExecutionException | TableClosedException fullOrClosed) {
            return query;
        }
        tasks.incrementAndGet();
        return inner.join();
    }

    /** Waits on a worker of one orchestrator for a search of another. */
    private int elsewhere(int query) {
        SearchFunction<Integer, Integer> search = (same, context) -> {
            context.touched(1, 1);
            checkPlace(other, context);
            return same + 1;
        };
        CompletableFuture<Integer> inner;
        try {
            inner = other.orchestrator().submit(search, query, other.table().id());
        } catch (RejectedExecutionException fullOrClosed) {
            return query;
        }
        other.tasks().incrementAndGet();
        return inner.join();
    }

    /** A search that runs on a worker runs on one of its own orchestrator. */
    private void checkPlace(Target own, SearchContext context) {
        Orchestrator at = own.orchestrator();
        if (context.worker() >= at.workers()) {
            fail("a search ran on worker " + context.worker() + " of " + at.workers());
        }
        if (context.worker() >= 0 && !at.indexing().calledOnWorker()) {
            fail("a search ran on a worker of another orchestrator");
        }
    }

    /** Computes for up to a millisecond, or until its deadline passes or it is cancelled. */
    private static int untilToldToStop(SearchContext context) {
        long stop = System.nanoTime() + ThreadLocalRandom.current().nextLong(1_000_000);
        while (System.nanoTime() < stop && !context.expired()) {
            Thread.onSpinWait();
        }
        return 0;
    }

    private void fail(String failure) {
        if (failures.size() < MAX_FAILURES_KEPT) {
            failures.add(failure);
        }
    }
}
