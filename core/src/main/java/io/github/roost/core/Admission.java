package io.github.roost.core;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.Dispatch;
import io.github.roost.core.pool.Held;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Request.Kind;
import io.github.roost.core.task.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Accepts or refuses requests: counts them into the epoch in force, finds room in queues, and applies the overload policy if there is none.
 * No accepted request is lost. Thread-safe.
 */
final class Admission {
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
        boolean accepted = false;
        try {
            checkOpen(mappingId);
            Request<Q, R> request =
                    new Request<>(kind, search, query, mappingId.slot(), epoch, options.priority(), now, deadline);
            int worker = dispatch.worker(mappingId.slot(), epoch.mapping(), ticket);
            // Once a queue has it, the request counts itself out of the epoch.
            accepted = dispatch.offer(worker, request);
            if (!accepted) {
                accepted = applyPolicy(mappingId, request, worker);
            }
            if (deadline != Task.NO_DEADLINE) {
                pool.watchDeadlines();
            }
            return request;
        } finally {
            if (!accepted) {
                epoch.exit(lane());
            }
        }
    }

    /** How long a submitter waits for room: not beyond the deadline of what it submits. */
    private long patience(long deadlineNanos, long now) {
        long most = Nanos.of(overloadPolicy.timeout());
        return deadlineNanos == Task.NO_DEADLINE ? most : Math.clamp(deadlineNanos - now + 1, 0, most);
    }

    /** Waits for room, runs the request in the caller, or throws. Returns whether it is accepted; if not, its deadline has passed. */
    private boolean applyPolicy(MappingId mappingId, Task request, int worker) {
        if (runsInCaller()) {
            CallerRunner.requireStack();
            callers.run(request);
            return true;
        }
        if (blocks()) {
            if (dispatch.await(
                    worker, request, this::mayStillWait, patience(request.deadlineNanos(), System.nanoTime()))) {
                return true;
            }
            if (request.expired(System.nanoTime())) {
                pool.refuseLate(request, 1);
                return false;
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
        Held held = new Held();
        try {
            return fork(fork, query, mappingId, options, held);
        } finally {
            place(held, options);
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
        if (isClosedToCaller()) {
            throw closedTo(forks.size() + " searches");
        }
        List<CompletableFuture<R>> answers = new ArrayList<>(forks.size());
        Held held = new Held();
        try {
            for (Step.Fork<Q, ?, ?, R> fork : forks) {
                try {
                    answers.add(fork(fork, query, anyId(fork), options, held));
                } catch (RejectedSearchException | OrchestratorClosedException | TableClosedException refused) {
                    // Earlier queries have been accepted: the caller must get their futures.
                    answers.add(CompletableFuture.failedFuture(refused));
                }
            }
        } finally {
            place(held, options);
        }
        return answers;
    }

    private void place(Held held, SubmitOptions options) {
        dispatch.place(held);
        if (!options.timeout().isZero()) {
            pool.watchDeadlines();
        }
    }

    /** Returns the mapping id of one of the parts; there must be at least one. */
    static MappingId anyId(Step.Fork<?, ?, ?, ?> fork) {
        return fork.parts().isEmpty()
                ? fork.shared().getFirst().mappingId()
                : fork.parts().getFirst().mappingId();
    }

    /** @param held receives the tasks of the parts, to be placed; placed here if the submitter waits for room */
    private <Q, R> CompletableFuture<R> fork(
            Step.Fork<Q, ?, ?, R> fork, Q query, MappingId mappingId, SubmitOptions options, Held held) {
        long now = System.nanoTime();
        Epoch epoch = enterEpoch(mappingId);
        boolean accepted = false;
        try {
            for (Part<?, ?> part : fork.parts()) {
                checkOpen(part.mappingId());
            }
            for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
                checkOpen(queue.mappingId());
            }
            long deadline = deadline(now, options);
            Request<Q, R> request =
                    new Request<>(Kind.PARTS, null, query, mappingId.slot(), epoch, options.priority(), now, deadline);
            int[] workers = new int[fork.parts().size()];
            Admitted admitted =
                    takesRoomOrAppliesPolicy(fork, epoch.mapping(), options.priority(), deadline, workers, held);
            if (admitted == Admitted.LATE) {
                pool.refuseLate(request, fork.parts().size() + fork.shared().size());
                return request;
            }
            if (admitted == Admitted.TO_QUEUES) {
                dispatch.begin(request, fork, workers, held, callers::run);
                accepted = true;
            } else {
                CallerRunner.requireStack();
                Held own = new Held();
                dispatch.begin(request, fork, null, own, callers::run);
                accepted = true;
                own.runEach(callers);
            }
            // A search may wait for it in a way that Roost does not see.
            WorkerPool.aboutToBlock();
            return request;
        } finally {
            if (!accepted) {
                epoch.exit(lane());
            }
        }
    }

    /** Accepts maintenance, which waits in queues without a limit, and which no epoch counts. */
    <Q, R> CompletableFuture<R> maintain(Search<Q, R> search, Q query, MappingId mappingId) {
        pool.maintenanceBegins();
        TableUse use = mappingId.registration().use();
        boolean accepted = false;
        boolean entered = false;
        try {
            // Counted before the check, as in enterEpoch.
            if (isClosedToCaller()) {
                rejected.increment();
                throw closedTo(mappingId.toString());
            }
            use.enter(lane());
            entered = true;
            Request<Q, R> request = new Request.Maintenance<>(search, query, mappingId.slot(), epochs.current(), use);
            // A search may wait for it in a way that Roost does not see.
            WorkerPool.aboutToBlock();
            dispatch.maintain(request);
            accepted = true;
            return request;
        } finally {
            if (!accepted) {
                if (entered) {
                    use.exit(lane());
                }
                pool.maintenanceEnds();
            }
        }
    }

    /** Where the parts of a request go. */
    private enum Admitted {
        /** Into queues: room for each was taken. */
        TO_QUEUES,
        /** The submitter is to run them. */
        TO_CALLER,
        /** Nowhere: the deadline has passed while the submitter waited. */
        LATE
    }

    /** Takes room for every part, or waits for it. */
    private Admitted takesRoomOrAppliesPolicy(
            Step.Fork<?, ?, ?, ?> fork, Mapping mapping, Priority priority, long deadline, int[] workers, Held held) {
        int full = dispatch.admit(fork, mapping, priority, workers, (domain, attempt) -> false);
        if (full < 0) {
            return Admitted.TO_QUEUES;
        }
        // Before it waits or runs: these tasks may be what it waits for.
        dispatch.place(held);
        if (runsInCaller()) {
            return Admitted.TO_CALLER;
        }
        if (blocks()) {
            long now = System.nanoTime();
            long end = now + patience(deadline, now);
            full = dispatch.admit(
                    fork,
                    mapping,
                    priority,
                    workers,
                    (domain, attempt) ->
                            dispatch.awaitRoom(domain, priority, attempt, this::mayStillWait, end - System.nanoTime()));
            if (full < 0) {
                return Admitted.TO_QUEUES;
            }
            if (deadline != Task.NO_DEADLINE && System.nanoTime() - deadline > 0) {
                return Admitted.LATE;
            }
        }
        throw noRoom("a query of " + (fork.parts().size() + fork.shared().size()) + " parts", full);
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
                epoch.exit(lane());
                continue;
            }
            if (isClosedToCaller()) {
                epoch.exit(lane());
                rejected.increment();
                throw closedTo(mappingId.toString());
            }
            return epoch;
        }
    }

    /** The lane in which this thread counts requests, so that threads do not share cache lines of counters. */
    private static long lane() {
        return Thread.currentThread().threadId();
    }

    private boolean isClosedToCaller() {
        return failing
                || pool.broken() != null
                || (closing && pool.callingWorker() < 0 && !CallerRunner.isRunningIn(pool));
    }

    private OrchestratorClosedException closedTo(String what) {
        Throwable broken = pool.broken();
        return broken == null ? new OrchestratorClosedException(what) : new OrchestratorClosedException(what, broken);
    }

    /** A submitter may have waited for room until the orchestrator was closed: then no later submission will be accepted either. */
    private RejectedExecutionException noRoom(String what, int domain) {
        rejected.increment();
        if (isClosedToCaller()) {
            return closedTo(what);
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

    private boolean blocks() {
        return overloadPolicy.kind() == OverloadPolicy.Kind.BLOCK;
    }

    private boolean mayStillWait() {
        return !failing && pool.broken() == null;
    }
}
