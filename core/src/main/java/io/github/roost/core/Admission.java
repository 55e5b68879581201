package io.github.roost.core;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.Dispatch;
import io.github.roost.core.pool.Request;
import io.github.roost.core.pool.Request.Kind;
import io.github.roost.core.pool.Reservation;
import io.github.roost.core.pool.Task;
import io.github.roost.core.pool.TaskList;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Accepts or refuses requests: counts them into the epoch in force, finds room in rings, and applies the overload policy if there is none.
 * No accepted request is lost. Thread-safe.
 */
final class Admission {
    /** How often a submitter that waits for room polls. */
    private static final long ROOM_POLL_NANOS = 20_000;

    private final Registration.Owner owner;
    private final Epochs epochs;
    private final WorkerPool pool;
    private final Dispatch dispatch;
    private final CallerRunner callers;
    private final OverloadPolicy overloadPolicy;
    private final int ringCapacity;
    private final LongAdder rejected = new LongAdder();
    /** Written once, by the first close: then requests from threads that are not workers are refused. */
    private volatile boolean closing;
    /** Written once, when the time to drain is over: then all requests are refused. */
    private volatile boolean failing;

    /** @param owner of the registrations whose mapping ids are accepted */
    Admission(
            Registration.Owner owner,
            Epochs epochs,
            WorkerPool pool,
            CallerRunner callers,
            OverloadPolicy overloadPolicy,
            int ringCapacity) {
        this.owner = owner;
        this.epochs = epochs;
        this.pool = pool;
        this.dispatch = pool.dispatch();
        this.callers = callers;
        this.overloadPolicy = overloadPolicy;
        this.ringCapacity = ringCapacity;
    }

    /** Refuses requests from threads that are not workers. */
    void close() {
        closing = true;
    }

    /** Refuses all requests. */
    void fail() {
        failing = true;
    }

    boolean isClosing() {
        return closing;
    }

    long rejected() {
        return rejected.sum();
    }

    /** Checks that a mapping id is of this orchestrator and its table is open. */
    void checkOwned(MappingId mappingId) {
        requireOwned(mappingId);
        checkOpen(mappingId);
    }

    /** Checks that a mapping id is of this orchestrator; its table may be closed. */
    void requireOwned(MappingId mappingId) {
        if (!mappingId.registration().isOf(owner)) {
            throw new IllegalArgumentException(
                    "mapping id must be of a table registered here, got " + mappingId + " of another orchestrator");
        }
    }

    /** Accepts a request of one task. The caller has checked that the mapping id belongs to this orchestrator. */
    <Q, R> CompletableFuture<R> submit(
            Kind kind, Search<? super Q, ? extends R> search, Q query, MappingId mappingId, SubmitOptions options) {
        long ticket = dispatch.ticket();
        long now = submissionTime(ticket, options);
        long deadline = deadline(now, options);
        Epoch epoch = enterEpoch(mappingId);
        TableUse use = null;
        boolean accepted = false;
        try {
            use = entered(mappingId);
            Request<Q, R> request =
                    new Request<>(kind, search, query, mappingId.slot(), use, epoch, options.priority(), now, deadline);
            int worker = dispatch.worker(request.slot(), epoch.mapping(), ticket);
            // Once a ring has it, the request counts itself out of the epoch.
            accepted = dispatch.offer(worker, request);
            if (!accepted) {
                accepted = applyPolicy(mappingId, request, worker);
            }
            pool.submitted(request);
            return request;
        } finally {
            if (!accepted) {
                leave(epoch, use);
            }
        }
    }

    /**
     * Counts a request in as a user of a table, which must be open. Called inside an epoch: a table is closed to users before it is unregistered,
     * which publishes the next epoch, so the table's slots are not reused before a request that finds it open here has ended.
     *
     * @throws TableClosedException if the table is closed
     */
    private static TableUse entered(MappingId mappingId) {
        TableUse use = mappingId.registration().use();
        use.enter(lane());
        return use;
    }

    private static void leave(Epoch epoch, @Nullable TableUse use) {
        epoch.exit(lane(), 1);
        if (use != null) {
            use.exit(lane());
        }
    }

    /** Waits for room, runs the request in the caller, or throws. Returns true: accepted. */
    private boolean applyPolicy(MappingId mappingId, Task request, int worker) {
        if (runsInCaller()) {
            callers.run(request);
            return true;
        }
        long since = System.nanoTime();
        while (mayStillWait(since)) {
            LockSupport.parkNanos(this, ROOM_POLL_NANOS);
            if (dispatch.offer(worker, request)) {
                return true;
            }
        }
        throw noRoom(mappingId.toString(), pool.domainOf(worker));
    }

    /**
     * Accepts a request that begins with parts: all of them or none.
     *
     * @param mappingId the id of one of its parts; the caller has checked that all belong to this orchestrator
     */
    <Q, R> CompletableFuture<R> fork(Step.Fork<Q, ?, ?, R> fork, Q query, MappingId mappingId, SubmitOptions options) {
        // Allocates nothing to add a task: tasks in it have been accepted and must not be lost.
        TaskList held = new TaskList();
        try {
            return fork(fork, query, mappingId, options, held::add, () -> 0, () -> {});
        } finally {
            dispatch.place(held);
        }
    }

    /**
     * Like {@link #fork} for several queries. All join their batch queues before a task for any of the queues is queued; each query is
     * accepted or refused by itself.
     *
     * @return one future per query; it has failed if the query was refused
     */
    <Q, R> List<CompletableFuture<R>> forkTogether(
            List<? extends Step.Fork<Q, ?, ?, R>> forks, Q query, SubmitOptions options) {
        if (closing && pool.callingWorker() < 0) {
            throw new OrchestratorClosedException(forks.size() + " searches");
        }
        List<CompletableFuture<R>> answers = new ArrayList<>(forks.size());
        // Allocates nothing to add a task: tasks in it have been accepted and must not be lost.
        TaskList held = new TaskList();
        try {
            for (Step.Fork<Q, ?, ?, R> fork : forks) {
                try {
                    answers.add(
                            fork(fork, query, anyId(fork), options, held::add, held::size, () -> dispatch.place(held)));
                } catch (RejectedSearchException | OrchestratorClosedException | TableClosedException refused) {
                    // Earlier queries have been accepted: the caller must get their futures.
                    answers.add(CompletableFuture.failedFuture(refused));
                }
            }
        } finally {
            dispatch.place(held);
        }
        return answers;
    }

    /** Returns the mapping id of one of the parts; there must be at least one. */
    static MappingId anyId(Step.Fork<?, ?, ?, ?> fork) {
        return fork.parts().isEmpty()
                ? fork.shared().getFirst().mappingId()
                : fork.parts().getFirst().mappingId();
    }

    /**
     * @param place receives a task without a reserved place, to be placed when all tasks are made
     * @param held returns the number of tasks received by {@code place}
     * @param beforeWait called before the submitter waits for room
     */
    private <Q, R> CompletableFuture<R> fork(
            Step.Fork<Q, ?, ?, R> fork,
            Q query,
            MappingId mappingId,
            SubmitOptions options,
            Consumer<Task> place,
            IntSupplier held,
            Runnable beforeWait) {
        long now = System.nanoTime();
        Epoch epoch = enterEpoch(mappingId);
        TableUse use = null;
        boolean accepted = false;
        try {
            for (Part<?, ?> part : fork.parts()) {
                checkOpen(part.mappingId());
            }
            for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
                checkOpen(queue.mappingId());
            }
            use = entered(mappingId);
            Request<Q, R> request = new Request<>(
                    Kind.PARTS,
                    null,
                    query,
                    mappingId.slot(),
                    use,
                    epoch,
                    options.priority(),
                    now,
                    deadline(now, options));
            request.claim();
            Reservation places =
                    new Reservation(pool, options.priority(), fork.parts().size());
            boolean inRings = reserveOrApplyPolicy(fork, places, epoch.mapping(), options, now, beforeWait);
            // If this throws, nothing has begun.
            if (inRings) {
                dispatch.begin(request, fork, places, place, held.getAsInt(), callers::runOwned);
            } else {
                dispatch.begin(request, fork, null, callers::run, 0, callers::runOwned);
            }
            accepted = true;
            pool.submitted(request);
            return request;
        } finally {
            if (!accepted) {
                leave(epoch, use);
            }
        }
    }

    /** Accepts maintenance, which waits in lists without a limit. */
    <Q, R> CompletableFuture<R> maintain(Search<Q, R> search, Q query, MappingId mappingId) {
        Epoch epoch = enterEpoch(mappingId);
        TableUse use = null;
        boolean accepted = false;
        try {
            use = entered(mappingId);
            Request<Q, R> request = new Request<>(
                    Kind.MAINTENANCE,
                    search,
                    query,
                    mappingId.slot(),
                    use,
                    epoch,
                    Priority.BATCH,
                    Task.NOT_TIMED,
                    Task.NO_DEADLINE);
            request.claim();
            // A search may wait for it, in a way that Roost does not see.
            pool.aboutToBlock();
            dispatch.maintain(request);
            accepted = true;
            return request;
        } finally {
            if (!accepted) {
                leave(epoch, use);
            }
        }
    }

    /** Reserves a place for every part; returns false if the submitter is to run the parts. */
    private boolean reserveOrApplyPolicy(
            Step.Fork<?, ?, ?, ?> fork,
            Reservation places,
            Mapping mapping,
            SubmitOptions options,
            long now,
            Runnable beforeWait) {
        while (true) {
            int full = dispatch.reserve(fork, places, mapping, options.priority(), ringCapacity);
            if (full < 0) {
                return true;
            }
            if (runsInCaller()) {
                return false;
            }
            if (!mayStillWait(now)) {
                throw noRoom(
                        "a query of " + (fork.parts().size() + fork.shared().size()) + " parts", full);
            }
            beforeWait.run();
            LockSupport.parkNanos(this, ROOM_POLL_NANOS);
        }
    }

    /**
     * Also called inside an epoch: unregistering closes the table before it publishes the next epoch, so the table's slots are not reused
     * before a task that finds it open here has ended.
     */
    private static void checkOpen(MappingId mappingId) {
        if (!mappingId.registration().isOpen()) {
            throw new TableClosedException(mappingId.registration().name());
        }
    }

    /** Reads the clock for requests with a deadline and one in eight others: reading it costs as much as the rest of a submission. */
    private static long submissionTime(long ticket, SubmitOptions options) {
        boolean sampled = ((ticket * 0x9E3779B97F4A7C15L) >>> 61) == 0;
        return sampled || !options.timeout().isZero() ? System.nanoTime() : Task.NOT_TIMED;
    }

    private static long deadline(long now, SubmitOptions options) {
        return options.timeout().isZero() ? Task.NO_DEADLINE : now + Nanos.of(options.timeout());
    }

    /**
     * Counts a request into the current epoch. A submitter counts before it reads {@link #closing}; a closer writes {@code closing} before
     * it reads the counts. So a request is either seen by the closer or refused here.
     */
    private Epoch enterEpoch(MappingId mappingId) {
        while (true) {
            Epoch epoch = epochs.current();
            epoch.enter(lane(), 1);
            if (epoch != epochs.current()) {
                epoch.exit(lane(), 1);
                continue;
            }
            if (isClosedToCaller()) {
                epoch.exit(lane(), 1);
                rejected.increment();
                throw new OrchestratorClosedException(mappingId.toString());
            }
            return epoch;
        }
    }

    /** The lane in which this thread counts requests, so that threads do not share cache lines of counters. */
    private static long lane() {
        return Thread.currentThread().threadId();
    }

    private boolean isClosedToCaller() {
        return failing || (closing && pool.callingWorker() < 0);
    }

    /** A submitter may have waited for room until the orchestrator was closed: then no later submission will be accepted either. */
    private RejectedExecutionException noRoom(String what, int domain) {
        rejected.increment();
        if (isClosedToCaller()) {
            return new OrchestratorClosedException(what);
        }
        RuntimeEvents.rejected(what, domain);
        return new RejectedSearchException(what, domain, ringCapacity);
    }

    private boolean runsInCaller() {
        return switch (overloadPolicy.kind()) {
            case REJECT -> false;
            case CALLER_RUNS -> true;
            case BLOCK -> pool.callingWorker() >= 0;
        };
    }

    private boolean mayStillWait(long since) {
        return overloadPolicy.kind() == OverloadPolicy.Kind.BLOCK
                && !failing
                && !Thread.currentThread().isInterrupted()
                && System.nanoTime() - since < Nanos.of(overloadPolicy.timeout());
    }
}
