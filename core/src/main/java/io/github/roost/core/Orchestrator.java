package io.github.roost.core;

import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.mapping.StayingPairing;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.Request.Kind;
import io.github.roost.core.pool.RoostFuture;
import io.github.roost.core.pool.TaskContext;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.remap.RemapRule;
import io.github.roost.core.stall.StallPolicy;
import io.github.roost.core.stall.StallStats;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Merger;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.topology.Core;
import io.github.roost.topology.PinResult;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs searches on pinned workers, each on the cache domain that is home to its mapping id, so that a table's hot data
 * stay in one last-level cache. Every table registers once; every search names where it belongs:
 *
 * <pre>{@code
 * Registration table = orchestrator.register("products");
 * CompletableFuture<Neighbors> answer = orchestrator.submit(search, query, table.id());
 * }</pre>
 *
 * <p>Searches report what they touch; at the end of each window the mapper weighs that traffic and moves homes where it
 * pays. What is accepted is never lost: every future completes, with a result, the search's own exception, a
 * {@link DeadlineExceededException}, a cancellation, or an {@link OrchestratorClosedException}.
 *
 * <p>Thread-safe: any method from any thread, platform or virtual, also from inside a search.
 */
public final class Orchestrator implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
    /** How often a closing thread looks whether the last task has finished. */
    private static final long DRAIN_POLL_NANOS = 100_000;
    /** How long closing waits for interrupted or failed searches to leave their workers. */
    private static final Duration FORCED_JOIN = Duration.ofSeconds(1);

    private final Topology topology;
    private final PinnedCores pinned;
    private final WorkerLayout layout;
    private final SchedulingPolicy scheduling;
    private final TrafficMonitor monitor;
    private final WorkerPool pool;
    private final Mapper mapper;
    private final CallerRunner callers;
    private final Admission admission;
    private final Indexing indexing;
    private final CompletableFuture<Boolean> closed = new CompletableFuture<>();

    /** What registrations ask of this orchestrator. */
    private final Registration.Owner owner = new Registration.Owner() {
        @Override
        public void unregister(Registration registration) {
            mapper.unregister(registration);
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
        this.monitor = new TrafficMonitor(layout.domains());
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
                        events),
                Dispatcher.of(scheduling, layout),
                scheduling.usesHomes() ? () -> ThreadLocalRandom.current().nextLong() >>> 1 : inTurn::getAndIncrement);
        this.mapper = new Mapper(
                layout.domains(),
                layout.workers(),
                monitor,
                new RemapRule(builder.mappingPolicy, builder.remapTrigger),
                topology.domains().getFirst().cacheBytes(),
                Nanos.of(builder.shortWindow),
                builder.shortPerLong(),
                scheduling.usesHomes());
        this.callers = new CallerRunner(pool, monitor);
        this.admission = new Admission(mapper.epochs(), pool, callers, builder.overloadPolicy, builder.ringCapacity);
        this.indexing = new Indexing(this, admission, pool);
        events.nameSlotsBy(mapper::nameOf);
        try {
            pool.start();
            mapper.start();
        } catch (Throwable e) {
            // Nobody else could end the threads that have started.
            pool.terminate();
            throw e;
        }
        this.pinned = PinnedCores.of(topology, builder.pinner == null && topology.bindable());
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Sets what workers do in their stalls: while their searches wait for bytes, and there is nothing else to run.
     *
     * @param policy default {@link StallPolicy#POLLED}; each worker follows it from its next stall on, and starts
     *     its measurements anew if the policy changed
     */
    public void stalls(StallPolicy policy) {
        pool.stalls(Objects.requireNonNull(policy, "stall policy must not be null"));
    }

    /** {@return what the stalls of the workers were since the policy was set; nothing while that measures none} */
    public StallStats stallStats() {
        return pool.stallStats();
    }

    /**
     * Registers a table that is placed as one.
     *
     * @param name how the table shows in reports; need not be unique
     * @return the table's mapping id and name; closing it unregisters the table
     */
    public Registration register(String name) {
        return register(name, 1);
    }

    /**
     * Registers a table of {@code clusters} parts that are placed one by one. Each gets a home at once: the domain with
     * the least traffic at this moment, and among equals the one with the fewest ids.
     *
     * @param name how the table shows in reports; need not be unique
     * @param clusters number of mapping ids, at least 1
     * @return the table's mapping ids and name; closing it unregisters the table
     * @throws IllegalArgumentException if all tables together would have more than 131,072 ids
     */
    public Registration register(String name, int clusters) {
        Objects.requireNonNull(name, "name must not be null");
        if (admission.isClosing()) {
            throw new OrchestratorClosedException("table " + name);
        }
        return mapper.register(owner, name, clusters);
    }

    /** One id for each worker, on top of those that tables may have. */
    Registration registerBatchWork(String name) {
        if (admission.isClosing()) {
            throw new OrchestratorClosedException("batch work " + name);
        }
        return mapper.registerBatchWork(owner, name, workers());
    }

    /**
     * {@link #submit(SearchFunction, Object, MappingId, SubmitOptions)} with {@link SubmitOptions#DEFAULT}.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param searchFunction what to run
     * @param query its argument
     * @param mappingId where it belongs
     * @return completes with the search's result or exception
     */
    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction, Q query, MappingId mappingId) {
        return submit(searchFunction, query, mappingId, SubmitOptions.DEFAULT);
    }

    /**
     * Runs one search on a worker of its mapping id's home domain. A search may itself wait for others: in {@code join()} and
     * {@code get()} of their futures, and of futures derived from them, its worker runs queued tasks. {@link
     * CompletableFuture#allOf} and {@link CompletableFuture#anyOf} make plain futures, which would block the worker: wait for each.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param searchFunction what to run
     * @param query its argument
     * @param mappingId where it belongs, from a {@link Registration} of this orchestrator that is open
     * @param options how to treat it
     * @return completes with the search's result or exception; cancelling it keeps a search that has not begun from
     *     running; a search that has begun can ask its context
     * @throws RejectedSearchException if the overload policy rejects it
     * @throws OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction,
            Q query,
            MappingId mappingId,
            SubmitOptions options) {
        if (searchFunction == null || options == null) {
            throw new NullPointerException("search function and options must not be null");
        }
        checkOwned(mappingId);
        return admission.submit(Kind.ONE_SLICE, searchFunction, query, mappingId, options);
    }

    /**
     * {@link #fanOut(List, Merger, SubmitOptions)} with {@link SubmitOptions#DEFAULT}.
     *
     * @param <P> what a part finds
     * @param <R> what the query finds
     * @param parts what to run where, at least one
     * @param merger makes the query's result of the parts' results
     * @return completes with the merged result, or the first exception of a part, or the merger's
     */
    public <P, R> CompletableFuture<R> fanOut(List<? extends Part<?, P>> parts, Merger<P, R> merger) {
        return fanOut(parts, merger, SubmitOptions.DEFAULT);
    }

    /**
     * Runs one query in many parts, each at home, and merges their results in the thread that finishes the last part;
     * no worker waits for another. All parts are accepted or none.
     *
     * @param <P> what a part finds
     * @param <R> what the query finds
     * @param parts what to run where, at least one
     * @param merger makes the query's result of the parts' results
     * @param options how to treat every part
     * @return completes with the merged result, or the first exception of a part, or the merger's
     * @throws RejectedSearchException if not all parts are accepted; then none runs
     * @throws OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <P, R> CompletableFuture<R> fanOut(
            List<? extends Part<?, P>> parts, Merger<P, R> merger, SubmitOptions options) {
        // The caller's list is read once: if it failed after places were reserved, these would stay so for ever.
        List<Part<?, P>> all = List.copyOf(parts);
        if (all.isEmpty()) {
            throw new IllegalArgumentException("a fan-out must have at least one part, got none");
        }
        if (merger == null) {
            throw new NullPointerException("merger must not be null");
        }
        for (Part<?, P> part : all) {
            checkOwned(part.mappingId());
        }
        Step.Fork<List<Part<?, P>>, Object, P, R> fork =
                new Step.Fork<>(all, List.of(), null, (same, results, context) -> Step.done(merger.merge(results)));
        return admission.fork(fork, all, all.getFirst().mappingId(), options);
    }

    /** {@return what index authors need beyond searching} */
    public Indexing indexing() {
        return indexing;
    }

    /**
     * The workers as a plain executor service, so that code that takes an executor (Lucene's {@code IndexSearcher}, a
     * {@code CompletableFuture} chain) runs at the home of {@code mappingId}. Its tasks report no traffic. Each call returns a new
     * view; shutting one down ends neither another nor the orchestrator.
     *
     * @param mappingId where the executor's tasks belong, from a {@link Registration} of this orchestrator that is open
     * @return an executor service of its own
     */
    public ExecutorService executor(MappingId mappingId) {
        checkOwned(mappingId);
        return new MappedExecutor(this, mappingId);
    }

    <T> CompletableFuture<T> newFuture() {
        return new RoostFuture<>();
    }

    void runBatch(String name, int pieces, IntConsumer piece) {
        new BatchRun(this, pieces, piece).run(name);
    }

    void giveWay() {
        pool.giveWay();
    }

    boolean calledOnWorker() {
        return pool.callingWorker() >= 0;
    }

    /** Says that the calling thread is about to block, which may be a worker's that others wait for. */
    void aboutToBlock() {
        pool.aboutToBlock();
    }

    void checkOwned(MappingId mappingId) {
        Registration registration = mappingId.registration();
        if (!registration.isOf(owner)) {
            throw ofAnother(mappingId);
        }
        Admission.checkOpen(mappingId);
    }

    private static IllegalArgumentException ofAnother(MappingId mappingId) {
        return new IllegalArgumentException(
                "mapping id must be of a table registered here, got " + mappingId + " of another orchestrator");
    }

    /** {@return the machine as this orchestrator uses it} */
    public Topology topology() {
        return topology;
    }

    /** {@return the number of workers, one per core; {@link SearchContext#worker()} is below it} */
    public int workers() {
        return layout.workers();
    }

    /** {@return the mapping in force, with every registered table} */
    public OrchestratorMapping mapping() {
        return OrchestratorMapping.of(mapper.epochs().current().mapping(), mapper.tables());
    }

    /**
     * Ids of the domains that are home to a mapping id now: one, or several where it is hotter than a fair share.
     *
     * @param mappingId of a registered table
     * @return domain ids, all different
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public List<Integer> homes(MappingId mappingId) {
        checkOwned(mappingId);
        return OrchestratorMapping.homes(mapper.epochs().current().mapping(), mappingId.slot());
    }

    int freeWorkers(int domain) {
        Vectors.requireRange("domain", domain, 0, layout.domains() - 1);
        return scheduling.usesHomes() ? pool.freeIn(domain) : 0;
    }

    void touched(MappingId mappingId, long nodes, long bytes) {
        Registration registration = mappingId.registration();
        if (!registration.isOf(owner)) {
            throw ofAnother(mappingId);
        }
        TaskContext.requireTouched(nodes, bytes);
        // What is registered while a task runs keeps its slots until that has ended: nobody else's traffic is added to.
        if ((nodes | bytes) != 0 && registration.isOpen()) {
            int slot = mappingId.slot();
            int worker = pool.callingWorker();
            int domain = worker < 0 ? mapper.epochs().current().mapping().home(slot, 0) : layout.domainOf(worker);
            monitor.add(domain, slot, bytes);
        }
    }

    long[] trafficBytes(Registration table) {
        if (!table.isOf(owner)) {
            throw ofAnother(table.id(0));
        }
        long[] all = mapper.totals().bytes();
        return Arrays.copyOf(
                Arrays.copyOfRange(all, Math.min(table.firstSlot(), all.length), all.length), table.clusters());
    }

    CompletionStage<Void> retired(long epoch) {
        return mapper.epochs().retired(epoch);
    }

    CompletionStage<Void> quiesce() {
        return mapper.advanceEpoch();
    }

    boolean endWindow() {
        return mapper.endWindow();
    }

    /**
     * {@link #stats(int)} with every registered table.
     *
     * @return counts and tables
     */
    public OrchestratorStats stats() {
        return stats(Integer.MAX_VALUE);
    }

    /**
     * Counts since the start and the state of this moment. Counts of running tasks come a moment late.
     *
     * @param mostTables how many tables to list at most, those with the most traffic; at least 0
     * @return counts and at most so many tables
     */
    public OrchestratorStats stats(int mostTables) {
        if (mostTables < 0) {
            throw new IllegalArgumentException("the number of tables must be at least 0, got " + mostTables);
        }
        return OrchestratorStats.of(layout, pool, mapper, scheduling, callers, admission.rejected(), mostTables);
    }

    /** Closes with a timeout of 30 seconds. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Refuses further submissions, waits for accepted ones, and ends the workers. What is not done when the time is up
     * fails with {@link OrchestratorClosedException}, running searches included: their threads end when they return. A
     * second call waits for the first. Must not be called from inside a search.
     *
     * @param timeout how long to wait for what was accepted
     * @return whether everything accepted was done in time
     * @throws IllegalStateException if called on a worker of this orchestrator
     */
    public boolean close(Duration timeout) {
        if (pool.callingWorker() >= 0) {
            throw new IllegalStateException("an orchestrator cannot be closed from inside one of its searches");
        }
        if (timeout == null) {
            throw new NullPointerException("timeout must not be null");
        }
        synchronized (closed) {
            if (admission.isClosing()) {
                return closed.join();
            }
            admission.close();
        }
        mapper.stop();
        boolean drained = awaitEmpty(timeout);
        if (!drained) {
            admission.fail();
            pool.failEverything(new OrchestratorClosedException());
            awaitEmpty(FORCED_JOIN);
        }
        pool.terminate();
        pool.join(FORCED_JOIN);
        pinned.close();
        closed.complete(drained);
        return drained;
    }

    private boolean awaitEmpty(Duration timeout) {
        long end = System.nanoTime() + Nanos.of(timeout);
        boolean interrupted = false;
        while (mapper.epochs().unfinished() > 0) {
            if (System.nanoTime() - end >= 0) {
                break;
            }
            LockSupport.parkNanos(this, DRAIN_POLL_NANOS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return mapper.epochs().unfinished() == 0;
    }

    /** Collects the options of an orchestrator. Not thread-safe. */
    public static final class Builder {
        /** Short windows that a long one may have. */
        public static final int MAX_SHORT_PER_LONG = 1_000;

        private @Nullable Topology topology;
        private @Nullable Function<Core, PinResult> pinner;
        private SchedulingPolicy scheduling = SchedulingPolicy.HOME_DOMAIN;
        private OverloadPolicy overloadPolicy = OverloadPolicy.reject();
        private int ringCapacity = 1024;
        private IdleStrategy idleStrategy = IdleStrategy.spinThenPark(1_000);
        private CrossDomainGate crossDomainGate = CrossDomainGate.DEFAULT;
        private MappingPolicy mappingPolicy = new StayingPairing();
        private RemapTrigger remapTrigger = RemapTrigger.DEFAULT;
        private Duration shortWindow = Duration.ofSeconds(10);
        private Duration longWindow = Duration.ofSeconds(60);
        private Duration slowTaskThreshold = Duration.ofMillis(100);
        private double maintenanceShare = .02;

        private Builder() {}

        /**
         * Sets the machine to run on.
         *
         * @param value default the live machine
         * @return this builder
         */
        public Builder topology(Topology value) {
            this.topology = value;
            return this;
        }

        /**
         * Sets how a worker pins its own thread to its core.
         *
         * @param value asked once by each worker, in its own thread; one that throws leaves its worker unpinned; default
         *     as the topology allows
         * @return this builder
         */
        public Builder pinner(Function<Core, PinResult> value) {
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
         * Sets what happens when rings are full.
         *
         * @param value default {@link OverloadPolicy#reject()}
         * @return this builder
         */
        public Builder overloadPolicy(OverloadPolicy value) {
            this.overloadPolicy = value;
            return this;
        }

        /**
         * Sets how many tasks of one priority may wait at one worker.
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
         * Sets how long a worker looks for work before it sleeps.
         *
         * @param value default 1,000 looks, some 40 microseconds: longer than a client takes from an answer to its next
         *     search, which then need not wake anybody
         * @return this builder
         */
        public Builder idleStrategy(IdleStrategy value) {
            this.idleStrategy = value;
            return this;
        }

        /**
         * Sets when tasks may cross domains.
         *
         * @param value default {@link CrossDomainGate#DEFAULT}
         * @return this builder
         */
        public Builder crossDomainGate(CrossDomainGate value) {
            this.crossDomainGate = value;
            return this;
        }

        /**
         * Sets what decides the next mapping.
         *
         * @param value default {@link StayingPairing}
         * @return this builder
         */
        public Builder mappingPolicy(MappingPolicy value) {
            this.mappingPolicy = value;
            return this;
        }

        /**
         * Sets when a proposed mapping pays.
         *
         * @param value default from 15 % on, 6 standard deviations of chance, and more bytes saved than moved
         * @return this builder
         */
        public Builder remapTrigger(RemapTrigger value) {
            this.remapTrigger = value;
            return this;
        }

        /**
         * Sets the windows over which traffic is summed; default 10 and 60 seconds.
         *
         * @param shortOne sees changes; at its end the mapper decides; at least 1 ms
         * @param longOne sees trends; a whole number of short ones, at most {@value #MAX_SHORT_PER_LONG}: each is kept
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
         * Sets from which run time on a task is reported as a JFR event.
         *
         * @param value default 100 ms
         * @return this builder
         */
        public Builder slowTaskThreshold(Duration value) {
            this.slowTaskThreshold = value;
            return this;
        }

        /**
         * Sets how much of a busy worker's time is maintenance's while that waits. Idle workers do more.
         *
         * @param value from 0, never while searches wait, to .5; default .02
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
         * Reads the machine, unless one is given, and starts the workers.
         *
         * @return running; to be closed
         */
        public Orchestrator build() {
            return new Orchestrator(this);
        }

        private int shortPerLong() {
            return (int) (Nanos.of(longWindow) / Nanos.of(shortWindow));
        }
    }
}
