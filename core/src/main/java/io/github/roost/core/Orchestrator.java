package io.github.roost.core;

import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.remap.RemapRule;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Request.Kind;
import io.github.roost.topology.Core;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs searches on pinned workers, each search in the cache domain that is the home of its mapping id, so that a table's hot data stay in
 * one last-level cache. A table registers once; every search passes a mapping id:
 *
 * <pre>{@code
 * Registration table = orchestrator.register("products");
 * CompletableFuture<SearchResult> answer = orchestrator.submit(search, query, table.id());
 * }</pre>
 *
 * <p>Searches report the bytes they touch; at the end of each window the mapper weighs that traffic and moves homes if it pays. No accepted
 * search is lost: every future completes, with a result, the search's own exception, a {@link DeadlineExceededException}, a cancellation,
 * or an {@link OrchestratorClosedException}.
 *
 * <p>Thread-safe: any thread, platform or virtual, may call any method; inside a search, any but {@link #close()}.
 */
public final class Orchestrator implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
    /** How often a closing thread checks whether the last task has finished. */
    private static final long DRAIN_POLL_NANOS = 100_000;
    /** How long closing waits for interrupted or failed searches to leave their workers. */
    private static final Duration FORCED_JOIN = Duration.ofSeconds(1);

    private final Topology topology;
    private final PinnedCores pinned;
    private final StartedThreads startedThreads;
    private final WorkerLayout layout;
    private final SchedulingPolicy scheduling;
    private final WorkerPool pool;
    private final Mapper mapper;
    private final Admission admission;
    private final Indexing indexing;
    /** The thread of the first call of close, which closes. */
    private final AtomicReference<@Nullable Thread> closing = new AtomicReference<>();

    private final CompletableFuture<Boolean> closed = new CompletableFuture<>();

    /** The calls that registrations make to this orchestrator. */
    private final Registration.Owner owner = new Registration.Owner() {
        @Override
        public CompletionStage<Void> unregister(Registration registration) {
            return mapper.unregister(registration);
        }

        @Override
        public int home(int slot) {
            Mapping mapping = mapper.epochs().current().mapping();
            return mapping.homeCount(slot) == 1 ? mapping.home(slot, 0) : -1;
        }
    };

    private Orchestrator(Builder builder) {
        this.topology = builder.topology == null ? TopologyReader.live().read() : builder.topology;
        this.layout = WorkerLayout.of(topology);
        this.scheduling = builder.scheduling;
        TrafficMonitor monitor = new TrafficMonitor(layout.domains(), layout.workers());
        RuntimeEvents events = new RuntimeEvents(builder.slowTaskThreshold);
        Pinner pinner = Pinner.of(topology);
        AtomicLong inTurn = new AtomicLong();
        this.pool = new WorkerPool(
                new WorkerPool.Setup(
                        layout,
                        scheduling,
                        builder.pinner == null ? pinner::pin : builder.pinner,
                        pinner::currentCpu,
                        builder.crossDomainGate,
                        builder.idleStrategy,
                        builder.ringCapacity,
                        builder.maintenanceShare,
                        monitor,
                        id -> id.registration().isOf(owner),
                        events),
                Dispatcher.of(scheduling, layout),
                scheduling.usesHomes() ? () -> ThreadLocalRandom.current().nextLong() >>> 1 : inTurn::getAndIncrement);
        this.mapper = new Mapper(
                (name, firstSlot, size, lastEpoch, listeners) ->
                        new Registration(owner, name, firstSlot, size, lastEpoch, listeners),
                layout.domains(),
                layout.workers(),
                monitor,
                new RemapRule(builder.mappingPolicy, builder.remapTrigger),
                topology.domains().getFirst().cacheBytes(),
                Nanos.of(builder.shortWindow),
                builder.shortPerLong(),
                scheduling.usesHomes());
        this.admission = new Admission(
                owner,
                mapper.epochs(),
                pool,
                new CallerRunner(pool, monitor),
                builder.overloadPolicy,
                builder.ringCapacity);
        this.indexing = new PoolIndexing(
                admission, pool, mapper, monitor, scheduling.usesHomes(), builder.groupRule, builder.recallRule());
        events.nameSlotsBy(mapper::nameOf);
        boolean pins = builder.pinner == null && topology.bindable();
        this.startedThreads = new StartedThreads(topology, pins);
        if (builder.pinner != null || topology.bindable()) {
            sizeSharedPools();
        }
        try {
            pool.start();
            mapper.start();
            startedThreads.start();
        } catch (Throwable e) {
            // The caller gets no orchestrator to close, so the threads that have started end here.
            mapper.stop();
            pool.terminate();
            throw e;
        }
        this.pinned = PinnedCores.of(topology, pins);
    }

    /**
     * Makes the JVM's scheduler of virtual threads and the common pool count the CPUs now. Each counts those of the thread that first uses it,
     * and keeps that number: first used by a callback on a pinned worker, it would have one thread until the JVM ends.
     */
    @SuppressWarnings("ReturnValueIgnored")
    private static void sizeSharedPools() {
        Thread.ofVirtual().unstarted(() -> {});
        ForkJoinPool.getCommonPoolParallelism();
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Registers a table that has one mapping id and is placed as a whole.
     *
     * @param name the table's name in reports; need not be unique
     * @return the table's mapping id and name; closing it unregisters the table
     */
    public Registration register(String name) {
        return register(name, 1);
    }

    /**
     * Registers a table with several mapping ids. Each id gets a home at once: the domain with the
     * least traffic at this moment; among equals, the domain with the fewest ids.
     *
     * @param name the table's name in reports; need not be unique
     * @param ids number of mapping ids, at least 1
     * @return the table's mapping ids and name; closing it unregisters the table
     * @throws IllegalArgumentException if all tables together would have more than 131,072 ids
     */
    public Registration register(String name, int ids) {
        Objects.requireNonNull(name, "name must not be null");
        if (admission.isClosing()) {
            throw new OrchestratorClosedException("table " + name);
        }
        return mapper.register(name, ids);
    }

    /**
     * Like {@link #submit(SearchFunction, Object, MappingId, SubmitOptions)} with {@link SubmitOptions#DEFAULT}.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param searchFunction the search to run
     * @param query the argument of the search
     * @param mappingId the id at whose home it runs
     * @return completes with the search's result or exception
     */
    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction, Q query, MappingId mappingId) {
        return submit(searchFunction, query, mappingId, SubmitOptions.DEFAULT);
    }

    /**
     * Runs one search on a worker of its mapping id's home domain. A search may itself wait for other searches: in {@code join()} and
     * {@code get()} of their futures, and of futures derived from these, its worker first runs those that this search has submitted and that have not
     * begun; then a fresh thread takes the worker over, while at most 256 threads are blocked. {@link CompletableFuture#allOf} and
     * {@link CompletableFuture#anyOf} make plain futures: for these and all other waits a fresh thread comes a little later, if the search has
     * submitted something. A search that has not must not wait in such a way for others.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param searchFunction the search to run
     * @param query the argument of the search
     * @param mappingId the id at whose home it runs, from a {@link Registration} of this orchestrator that is open
     * @param options its priority and deadline
     * @return completes with the search's result or exception; if it is cancelled, a search that has not begun does not run, and one that
     *     has begun can see it in its {@link SearchContext}
     * @throws RejectedSearchException if the overload policy rejects it
     * @throws OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws TableClosedException if the table is closed
     */
    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction,
            Q query,
            MappingId mappingId,
            SubmitOptions options) {
        if (searchFunction == null || options == null) {
            throw new NullPointerException("search function and options must not be null");
        }
        admission.requireOwned(mappingId);
        return admission.submit(Kind.ONE_SLICE, searchFunction, query, mappingId, options);
    }

    /**
     * Like {@link #fanOut(List, Merger, SubmitOptions)} with {@link SubmitOptions#DEFAULT}.
     *
     * @param <P> the type of a part's result
     * @param <R> the type of the merged result
     * @param parts the searches to run and their mapping ids, at least one
     * @param merger makes one result from the results of the parts
     * @return completes with the merged result, or fails with the first exception of a part, or the merger's
     */
    public <P, R> CompletableFuture<R> fanOut(List<? extends Part<?, P>> parts, Merger<P, R> merger) {
        return fanOut(parts, merger, SubmitOptions.DEFAULT);
    }

    /**
     * Runs one query in several parts, each at the home of its mapping id. The thread that finishes the last part merges the results, so no
     * worker waits for another. Either all parts are accepted or none; more parts than a domain has places for are accepted only while
     * no other task of that priority waits there.
     *
     * @param <P> the type of a part's result
     * @param <R> the type of the merged result
     * @param parts the searches to run and their mapping ids, at least one
     * @param merger makes one result from the results of the parts
     * @param options priority and deadline of every part
     * @return completes with the merged result, or fails with the first exception of a part, or the merger's
     * @throws RejectedSearchException if not all parts are accepted; then none runs
     * @throws OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator
     * @throws TableClosedException if the table is closed
     */
    public <P, R> CompletableFuture<R> fanOut(
            List<? extends Part<?, P>> parts, Merger<P, R> merger, SubmitOptions options) {
        // Read the caller's list once, now: it may throw, or change.
        List<Part<?, P>> all = List.copyOf(parts);
        if (all.isEmpty()) {
            throw new IllegalArgumentException("a fan-out must have at least one part, got none");
        }
        if (merger == null) {
            throw new NullPointerException("merger must not be null");
        }
        for (Part<?, P> part : all) {
            admission.requireOwned(part.mappingId());
        }
        Step.Fork<List<Part<?, P>>, Object, P, R> fork =
                new Step.Fork<>(all, List.of(), null, (same, results, context) -> Step.done(merger.merge(results)));
        return admission.fork(fork, all, all.getFirst().mappingId(), options);
    }

    /** {@return the operations that an index needs besides the submission of searches} */
    public Indexing indexing() {
        return indexing;
    }

    /**
     * Returns the workers as an executor service, so that code that takes an executor (Lucene's {@code IndexSearcher}, a
     * {@code CompletableFuture} chain) runs at the home of {@code mappingId}. Its tasks report no traffic. Each call returns a new view;
     * shutting it down affects neither other views nor the orchestrator.
     *
     * @param mappingId the id at whose home the tasks run, from a {@link Registration} of this orchestrator that is open
     * @return a new executor service
     */
    public ExecutorService executor(MappingId mappingId) {
        admission.checkOwned(mappingId);
        return new MappedExecutor(admission, mappingId);
    }

    /** {@return the topology that this orchestrator runs on} */
    public Topology topology() {
        return topology;
    }

    /** {@return the number of workers, one per core; {@link SearchContext#worker()} is always less} */
    public int workers() {
        return layout.workers();
    }

    /** {@return the mapping in force, with every registered table} */
    public OrchestratorStats.MappingStats mapping() {
        return OrchestratorStats.MappingStats.of(mapper.epochs().current().mapping(), mapper.tables());
    }

    /**
     * Returns the present home domains of a mapping id: one, or several if its traffic exceeds a domain's fair share.
     *
     * @param mappingId an id of a registered table
     * @return domain ids, all distinct
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws TableClosedException if the table is closed
     */
    public List<Integer> homes(MappingId mappingId) {
        admission.checkOwned(mappingId);
        return OrchestratorStats.MappingStats.homes(mapper.epochs().current().mapping(), mappingId.slot());
    }

    /**
     * Equivalent to {@link #stats(int)} with every registered table.
     *
     * @return the statistics
     */
    public OrchestratorStats stats() {
        return stats(Integer.MAX_VALUE);
    }

    /**
     * Returns counts since the start, and the present state. Tasks may be counted a moment after they end.
     *
     * @param maxTables the maximum number of tables to list, at least 0; the tables with the most traffic are listed
     * @return the statistics
     */
    public OrchestratorStats stats(int maxTables) {
        if (maxTables < 0) {
            throw new IllegalArgumentException("the number of tables must be at least 0, got " + maxTables);
        }
        return OrchestratorStats.of(layout, pool, mapper, scheduling, admission.rejected(), maxTables);
    }

    /** Closes with a timeout of 30 seconds. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Refuses further submissions, waits for accepted tasks, and ends the workers. Tasks that are not done within the timeout fail with
     * {@link OrchestratorClosedException}, also running ones: their threads end when they return. A second call waits for the first and
     * returns its result, or false if the first takes longer than its own timeout and two seconds; in a callback of a future that the first call fails, it
     * returns false at once. Must not be called from inside a search.
     *
     * @param timeout the maximum time to wait for accepted tasks
     * @return whether all accepted tasks were done in time
     * @throws IllegalStateException if called on a worker of this orchestrator, or, by the first call, in a callback of a search whose deadline
     *     has passed
     */
    public boolean close(Duration timeout) {
        if (pool.callingWorker() >= 0
                || CallerRunner.isRunningIn(pool)
                || ((pool.isDelivering() || Request.isEndedHere()) && closing.get() == null)) {
            throw new IllegalStateException("an orchestrator cannot be closed from inside one of its searches");
        }
        if (timeout == null) {
            throw new NullPointerException("timeout must not be null");
        }
        if (!closing.compareAndSet(null, Thread.currentThread())) {
            return awaitClosed(timeout);
        }
        boolean drained = false;
        try {
            drained = drain(timeout);
        } finally {
            closed.complete(drained);
        }
        return drained;
    }

    /** Waits for the call that closes; in a callback of that call, which would wait for itself, returns at once. */
    private boolean awaitClosed(Duration timeout) {
        if ((closing.get() == Thread.currentThread() || pool.isDelivering()) && !closed.isDone()) {
            return false;
        }
        try {
            return closed.copy()
                    .completeOnTimeout(
                            false,
                            Nanos.of(timeout) + FORCED_JOIN.multipliedBy(2).toNanos(),
                            TimeUnit.NANOSECONDS)
                    .join();
        } catch (CompletionException failed) {
            return false;
        }
    }

    private boolean drain(Duration timeout) {
        admission.close();
        mapper.stop();
        boolean drained = awaitEmpty(pool.broken() == null ? timeout : Duration.ZERO);
        try {
            if (!drained) {
                admission.fail();
                pool.failEverything(new OrchestratorClosedException());
                if (!awaitEmpty(FORCED_JOIN)) {
                    mapper.fail(new OrchestratorClosedException());
                }
            }
        } finally {
            pool.terminate();
            pool.join(FORCED_JOIN);
            startedThreads.close();
            pinned.close();
        }
        return drained;
    }

    private boolean awaitEmpty(Duration timeout) {
        long end = System.nanoTime() + Nanos.of(timeout);
        boolean interrupted = false;
        while (unfinished() > 0 && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(this, DRAIN_POLL_NANOS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return unfinished() == 0;
    }

    private long unfinished() {
        return mapper.epochs().unfinished() + pool.unfinishedMaintenance();
    }

    /** Builder of an orchestrator. Not thread-safe. */
    public static final class Builder {
        /** The maximum number of short windows in a long window. */
        public static final int MAX_SHORT_PER_LONG = 1_000;

        private @Nullable Topology topology;
        private @Nullable Function<Core, Pinner.Result> pinner;
        private SchedulingPolicy scheduling = SchedulingPolicy.HOME_DOMAIN;
        private OverloadPolicy overloadPolicy = OverloadPolicy.reject();
        private int ringCapacity = 1024;
        private IdleStrategy idleStrategy = IdleStrategy.spinThenPark(1_000);
        private CrossDomainGate crossDomainGate = CrossDomainGate.DEFAULT;
        private GroupRule groupRule = GroupRule.DEFAULT;
        private MappingPolicy mappingPolicy = MappingPolicy.stayingPairing();
        private RemapTrigger remapTrigger = RemapTrigger.DEFAULT;
        private Duration shortWindow = Duration.ofSeconds(10);
        private Duration longWindow = Duration.ofSeconds(60);
        private Duration slowTaskThreshold = Duration.ofMillis(100);
        private double maintenanceShare = .02;
        private double recallShare = .001;
        private double recallAlarm = .8;

        private Builder() {}

        /**
         * Sets the topology to run on.
         *
         * @param value default: this machine's, read when the orchestrator is built
         * @return this builder
         */
        public Builder topology(Topology value) {
            this.topology = value;
            return this;
        }

        /**
         * Sets how a worker pins its own thread to its core.
         *
         * @param value called once per worker, in the worker's thread; if it throws, the worker stays unpinned; default: pins if the
         *     topology can be bound to. Only with the default, threads that are started on a worker, and so inherit its core, are
         *     given all CPUs of the process within two seconds; a thread that pins itself to a core of the topology in its first second
         *     loses that pin
         * @return this builder
         */
        public Builder pinner(Function<Core, Pinner.Result> value) {
            this.pinner = value;
            return this;
        }

        /**
         * Sets how tasks are dispatched and stolen.
         *
         * @param value default {@link SchedulingPolicy#HOME_DOMAIN}
         * @return this builder
         */
        public Builder scheduling(SchedulingPolicy value) {
            this.scheduling = value;
            return this;
        }

        /**
         * Sets what happens when queues are full.
         *
         * @param value default {@link OverloadPolicy#reject()}
         * @return this builder
         */
        public Builder overloadPolicy(OverloadPolicy value) {
            this.overloadPolicy = value;
            return this;
        }

        /**
         * Sets the maximum number of tasks of one priority that may wait in a domain, per worker. A search with more parts than a domain has
         * places for is accepted only while no other task of its priority waits there.
         *
         * @param value from 1 to 1,048,576; default 1,024
         * @return this builder
         */
        public Builder ringCapacity(int value) {
            if (value < 1 || value > 1 << 20) {
                throw new IllegalArgumentException("ring capacity must be between 1 and 1,048,576, got " + value);
            }
            this.ringCapacity = value;
            return this;
        }

        /**
         * Sets how long an idle worker polls for work before it sleeps.
         *
         * @param value default: 1,000 polls, about 40 microseconds. That is longer than a client takes from an answer to its next search,
         *     which then need not wake a worker
         * @return this builder
         */
        public Builder idleStrategy(IdleStrategy value) {
            this.idleStrategy = value;
            return this;
        }

        /**
         * Sets when tasks may be stolen across domains.
         *
         * @param value default {@link CrossDomainGate#DEFAULT}
         * @return this builder
         */
        public Builder crossDomainGate(CrossDomainGate value) {
            this.crossDomainGate = value;
            return this;
        }

        /**
         * Sets how many queries that wait for the same mapping id are served together, for example by one scan of an IVF list. Batch queues
         * that were created with a rule of their own keep it.
         *
         * @param value default {@link GroupRule#DEFAULT}; with {@link GroupRule#ALONE} each query is served alone, as in the paper
         * @return this builder
         */
        public Builder groupRule(GroupRule value) {
            this.groupRule = value;
            return this;
        }

        /**
         * Sets the policy that proposes the next mapping.
         *
         * @param value default {@link MappingPolicy#stayingPairing}
         * @return this builder
         */
        public Builder mappingPolicy(MappingPolicy value) {
            this.mappingPolicy = value;
            return this;
        }

        /**
         * Sets when a proposed mapping is published.
         *
         * @param value default {@link RemapTrigger#DEFAULT}: the largest domain load falls by more than 15 % and 6 standard deviations of
         *     chance, and more bytes are saved than moved
         * @return this builder
         */
        public Builder remapTrigger(RemapTrigger value) {
            this.remapTrigger = value;
            return this;
        }

        /**
         * Sets the windows over which traffic is summed; default 10 and 60 seconds.
         *
         * @param shortOne the short window, which shows changes; the mapper decides at its end; at least 1 ms
         * @param longOne the long window, which shows trends; a whole number of short windows, at most {@value #MAX_SHORT_PER_LONG}, since
         *     the traffic of each is kept
         * @return this builder
         */
        public Builder windows(Duration shortOne, Duration longOne) {
            if (shortOne.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("the short window must be at least 1 ms, got " + shortOne);
            }
            if (longOne.compareTo(shortOne) < 0
                    || Nanos.of(longOne) / Nanos.of(shortOne) > MAX_SHORT_PER_LONG
                    || Nanos.of(longOne) % Nanos.of(shortOne) != 0) {
                throw new IllegalArgumentException("the long window must be 1 to " + MAX_SHORT_PER_LONG
                        + " whole short windows of " + shortOne + ", got " + longOne);
            }
            this.shortWindow = shortOne;
            this.longWindow = longOne;
            return this;
        }

        /**
         * Sets the run time from which a task is reported as a JFR event.
         *
         * @param value default 100 ms
         * @return this builder
         */
        public Builder slowTaskThreshold(Duration value) {
            this.slowTaskThreshold = value;
            return this;
        }

        /**
         * Sets the share of a busy worker's time that waiting maintenance gets. Idle workers do more.
         *
         * @param value from 0 (none while searches wait) to .5; default .02
         * @return this builder
         */
        public Builder maintenanceShare(double value) {
            if (!(value >= 0 && value <= .5)) {
                throw new IllegalArgumentException("maintenance share must be between 0 and .5, got " + value);
            }
            this.maintenanceShare = value;
            return this;
        }

        /**
         * Sets the share of the workers' time in which searches are repeated exactly, to measure their recall ({@link Registration.Recall}). They are
         * repeated on idle workers only, and let searches go first. All tables share this time.
         *
         * @param value from 0 (recall is not measured) to .1; default .001
         * @return this builder
         */
        public Builder recallShare(double value) {
            if (!(value >= 0 && value <= .1)) {
                throw new IllegalArgumentException("recall share must be between 0 and .1, got " + value);
            }
            this.recallShare = value;
            return this;
        }

        /**
         * Sets the recall below which a table raises an alarm: when the measured recall is lower with 95 % confidence, a warning is logged, a
         * JFR event is emitted, and {@link Registration.Recall#alarm} is set until the measured recall is back at this level.
         *
         * @param value from 0 (no alarm) to 1; default .8
         * @return this builder
         */
        public Builder recallAlarm(double value) {
            if (!(value >= 0 && value <= 1)) {
                throw new IllegalArgumentException("recall alarm must be between 0 and 1, got " + value);
            }
            this.recallAlarm = value;
            return this;
        }

        /**
         * Reads the machine's topology, unless one was set, and starts the workers.
         *
         * @return a running orchestrator, to be closed by the caller
         */
        public Orchestrator build() {
            return new Orchestrator(this);
        }

        private Indexing.RecallRule recallRule() {
            return new Indexing.RecallRule(recallShare, recallAlarm);
        }

        private int shortPerLong() {
            return (int) (Nanos.of(longWindow) / Nanos.of(shortWindow));
        }
    }
}
