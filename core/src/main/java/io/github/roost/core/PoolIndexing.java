package io.github.roost.core;

import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Request.Kind;
import io.github.roost.core.task.RoostFuture;
import io.github.roost.core.task.SharedQueue;
import io.github.roost.core.task.TaskContext;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operations for indexes, on the pool and the mapper of one orchestrator. Thread-safe. */
final class PoolIndexing implements Indexing {
    private static final Logger LOG = LoggerFactory.getLogger(PoolIndexing.class);
    /** The maximum time that closing a table waits for its users. */
    private static final long CLOSE_SECONDS = 30;

    private final Admission admission;
    private final WorkerPool pool;
    private final Mapper mapper;
    private final TrafficMonitor monitor;
    private final boolean usesHomes;
    private final GroupRule groupRule;
    private final RecallRule recallRule;

    /**
     * @param usesHomes whether tasks are dispatched to the home of their mapping id
     * @param groupRule of batch queues that are created without a rule
     * @param recallRule of all tables
     */
    PoolIndexing(
            Admission admission,
            WorkerPool pool,
            Mapper mapper,
            TrafficMonitor monitor,
            boolean usesHomes,
            GroupRule groupRule,
            RecallRule recallRule) {
        this.admission = admission;
        this.pool = pool;
        this.mapper = mapper;
        this.monitor = monitor;
        this.usesHomes = usesHomes;
        this.groupRule = groupRule;
        this.recallRule = recallRule;
    }

    @Override
    public RecallRule recallRule() {
        return recallRule;
    }

    @Override
    public int tables() {
        return mapper.tables().size();
    }

    @Override
    public <Q, R> CompletableFuture<R> submitSteps(
            Search<Q, R> search, Q query, MappingId mappingId, SubmitOptions options) {
        requireNonNull(search, options);
        admission.requireOwned(mappingId);
        return admission.submit(Kind.STEPS, search, query, mappingId, options);
    }

    @Override
    public <Q, R> CompletableFuture<R> submitFork(Step.Fork<Q, ?, ?, R> fork, Q query, SubmitOptions options) {
        requireNonNull(fork, options);
        check(fork);
        return admission.fork(fork, query, Admission.anyId(fork), options);
    }

    @Override
    public <Q, R> List<CompletableFuture<R>> submitTogether(
            List<? extends Step.Fork<Q, ?, ?, R>> forks, Q query, SubmitOptions options) {
        requireNonNull(forks, options);
        forks.forEach(this::check);
        return admission.forkTogether(forks, query, options);
    }

    private void check(Step.Fork<?, ?, ?, ?> fork) {
        for (Part<?, ?> part : fork.parts()) {
            admission.requireOwned(part.mappingId());
        }
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            admission.requireOwned(queue.mappingId());
        }
        if (fork.parts().isEmpty() && fork.shared().isEmpty()) {
            throw new IllegalArgumentException("a fork must have at least one part, got none");
        }
    }

    @Override
    public <Q, R> Indexing.BatchQueue<Q, R> batchQueue(MappingId mappingId, Indexing.GroupSearch<Q, R> search) {
        return batchQueue(mappingId, search, groupRule);
    }

    @Override
    public <Q, R> Indexing.BatchQueue<Q, R> batchQueue(
            MappingId mappingId, Indexing.GroupSearch<Q, R> search, GroupRule rule) {
        Objects.requireNonNull(rule, "rule must not be null");
        admission.checkOwned(mappingId);
        return new SharedQueue<>(mappingId, search, rule);
    }

    @Override
    public <Q, R> CompletableFuture<R> submitShared(Indexing.BatchQueue<Q, R> queue, Q query, SubmitOptions options) {
        Step.Fork<Q, Q, R, R> fork = new Step.Fork<>(
                List.of(), List.of(queue), query, (same, results, context) -> Step.done(results.getFirst()));
        return submitFork(fork, query, options);
    }

    @Override
    public CompletableFuture<Void> maintenance(MappingId mappingId, Indexing.Maintenance work) {
        requireNonNull(work, SubmitOptions.BATCH);
        admission.requireOwned(mappingId);
        // Returns the request itself: cancelling a derived future would not stop the steps.
        return admission.maintain(new Steps(work)::step, work, mappingId);
    }

    /** Maintenance as a search with one slice per step. */
    private record Steps(Indexing.Maintenance work) {
        @SuppressWarnings("NullAway") // there is nothing else that a Void could be
        Step<Indexing.Maintenance, Void> step(Indexing.Maintenance same, SearchContext context) throws Exception {
            return work.step(context) ? new Step.Yield<>(this::step) : new Step.Done<>(null);
        }
    }

    @Override
    public CompletionSource.Handle addCompletionSource(CompletionSource.Factory factory) {
        if (factory == null) {
            throw new NullPointerException("factory must not be null");
        }
        return pool.addSource(factory);
    }

    @Override
    public void stallRule(StallRule.@Nullable Factory factory) {
        pool.stallRule(factory);
    }

    @Override
    public StallRule.@Nullable Factory stallRule() {
        return pool.stallRule();
    }

    @Override
    public boolean closeTable(Registration table, Runnable free) {
        TableUse use = table.use();
        table.end();
        // Not whether it is the first to close the table, which its registration may have been.
        boolean first = use.freesNow();
        boolean mayWait = mayWait();
        if (!first) {
            awaitClosed(table);
        } else if (mayWait && await(use.unused())) {
            free(use, free);
        } else {
            if (mayWait) {
                LOG.warn(
                        "table {} is still used {} s after it was closed: its memory is freed when that ends",
                        table.name(),
                        CLOSE_SECONDS);
            }
            var _ = use.unused()
                    .thenRun(() -> Thread.ofVirtual().name("roost-free").start(() -> free(use, free)));
        }
        return first;
    }

    @Override
    public void awaitClosed(Registration table) {
        if (mayWait()) {
            await(table.use().freed());
        }
    }

    private boolean mayWait() {
        return !calledOnWorker()
                && !pool.isDelivering()
                && !Request.isEndedHere()
                && !CallerRunner.isRunning()
                && !mapper.isCalledInItsThread();
    }

    private static void free(TableUse use, Runnable free) {
        try {
            free.run();
        } finally {
            use.freed().complete(null);
        }
    }

    /**
     * Returns whether the future completed in time. An interrupt does not end the wait: the caller goes on to unmap memory or files that other
     * threads may still read.
     */
    private static boolean await(CompletableFuture<Void> awaited) {
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
        try {
            while (true) {
                try {
                    awaited.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return true;
                } catch (InterruptedException again) {
                    interrupted = true;
                } catch (TimeoutException late) {
                    return false;
                } catch (ExecutionException never) {
                    throw new IllegalStateException(never);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void requireOpen(String what) {
        if (admission.isClosing()) {
            throw new OrchestratorClosedException(what);
        }
    }

    @Override
    public <T> CompletableFuture<T> newFuture() {
        return new RoostFuture<>();
    }

    @Override
    public void runBatch(String name, int pieces, IntConsumer piece) {
        new BatchRun(this, pieces, piece).run(name);
    }

    @Override
    public Registration registerBatchWork(String name) {
        Objects.requireNonNull(name, "name must not be null");
        requireOpen("batch work " + name);
        return mapper.registerBatchWork(name, pool.workers());
    }

    @Override
    public void yieldToSearches() {
        pool.yieldToSearches();
    }

    @Override
    public boolean calledOnWorker() {
        return pool.callingWorker() >= 0;
    }

    @Override
    public int freeWorkers(int domain) {
        int domains = mapper.epochs().current().mapping().domains();
        if (domain < 0 || domain >= domains) {
            throw new IllegalArgumentException("domain must be between 0 and " + (domains - 1) + ", got " + domain);
        }
        return usesHomes ? pool.freeIn(domain) : 0;
    }

    @Override
    public void touched(MappingId mappingId, long nodes, long bytes) {
        Registration registration = mappingId.registration();
        admission.requireOwned(mappingId);
        TaskContext.requireTouched(nodes, bytes);
        // Slots of a closed table are not reused before the tasks that run now have ended, so no other table's traffic
        // is counted.
        if ((nodes | bytes) != 0 && registration.isOpen()) {
            int slot = mappingId.slot();
            int worker = pool.callingWorker();
            int domain = worker < 0 ? mapper.epochs().current().mapping().home(slot, 0) : pool.domainOf(worker);
            monitor.add(domain, slot, bytes);
        }
    }

    @Override
    public long[] trafficBytes(Registration table) {
        admission.requireOwned(table.id(0));
        long[] all = mapper.totals().bytes();
        return Arrays.copyOf(
                Arrays.copyOfRange(all, Math.min(table.firstSlot(), all.length), all.length), table.size());
    }

    @Override
    public CompletionStage<Void> retired(long epoch) {
        return mapper.epochs().retired(epoch);
    }

    @Override
    public CompletionStage<Void> quiesce() {
        return mapper.advanceEpoch();
    }

    @Override
    public boolean endWindow() {
        return mapper.endWindow();
    }

    private static void requireNonNull(Object search, Object options) {
        if (search == null || options == null) {
            throw new NullPointerException("the search function and the options must not be null");
        }
    }
}
