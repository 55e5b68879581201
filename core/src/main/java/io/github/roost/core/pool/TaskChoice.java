package io.github.roost.core.pool;

import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.pool.WorkerCounters.Counter;
import org.jspecify.annotations.Nullable;

/**
 * Takes a runner's next task in hand: resumed tasks first, then maintenance that is due by its share of time, a yielded task if the
 * last task was not one, the worker's own rings (after 32 interactive tasks a batch task), the rings of the domain, and, if all of these
 * are empty, maintenance of the domain, and other domains, behind the gate. Used only by the runner's thread.
 */
final class TaskChoice {
    /** Interactive tasks after which a waiting batch task goes first, so that batch work is never starved. */
    static final int INTERACTIVE_PER_BATCH = 32;

    private final Runner runner;
    private final Worker worker;
    private final WorkerPool pool;
    private final CrossDomainHelp help;
    private final TaskCompletion completion;
    private final TaskInHand hand;
    private final MaintenanceTurns maintenance;
    private final Progress progress;
    private final WorkerTimeSlice timeSlice;
    private final WorkerCounters counters;
    private final StealOrder stealOrder;
    /** Finds a task of another worker; by {@link #stealFrom} it is in hand then. */
    private final Stealing<Task> stealing;

    /** Interactive tasks since the last batch task. */
    private int interactiveSinceBatch;
    /** Whether the last turn was a yielded task's. */
    private boolean yieldedHadTurn;

    TaskChoice(
            Runner runner,
            WorkerPool pool,
            TaskInHand hand,
            MaintenanceTurns maintenance,
            Progress progress,
            WorkerTimeSlice timeSlice,
            WorkerCounters counters) {
        this.runner = runner;
        this.worker = runner.worker();
        this.pool = pool;
        this.help = pool.help();
        this.completion = pool.completion();
        this.hand = hand;
        this.maintenance = maintenance;
        this.progress = progress;
        this.timeSlice = timeSlice;
        this.counters = counters;
        this.stealOrder = pool.stealOrder(worker.index);
        this.stealing = new Stealing<>(pool.layout(), stealOrder, new OtherWorkers(), pool.platform()::random);
    }

    /** Takes the next task, from the queues that need no gate; whether there was one. */
    boolean next() {
        lookAround();
        return takeOwn() || stealing.ungated() != null;
    }

    /** As {@link #next}, nested in a slice: after an error no task may stay in hand. */
    boolean nextNested() {
        try {
            return next();
        } catch (Throwable unexpected) {
            hand.fail(unexpected);
            throw unexpected;
        }
    }

    /** Takes what may run only if there is nothing else: maintenance, or a task of another domain; whether there was one. */
    boolean nextWhenIdle() {
        return hand.takeOwned(maintenance.takeWhenIdle()) || stealing.gated() != null;
    }

    /** Looks at all domains instead of two drawn at random, before the worker sleeps; whether there was a task. */
    boolean nextAnywhere() {
        return stealing.gatedAnywhere() != null;
    }

    /** Handles events other than tasks: arrived completions, deadlines of parked tasks, failures that are still to be delivered. */
    void lookAround() {
        worker.sources.poll(runner);
        if (worker.parked.nanosToDeadline() == 0) {
            worker.parked.expire();
        }
        if (worker.incomplete.size() > 0) {
            completion.answerAgain(worker);
        }
    }

    private boolean takeOwn() {
        if (takeResumed()) {
            return true;
        }
        if (!progress.onlyInteractive() && hand.takeOwned(maintenance.takeDue())) {
            return true;
        }
        if (!yieldedHadTurn && !progress.onlyInteractive() && hand.takeOwned(worker.yielded.poll())) {
            yieldedHadTurn = true;
            return true;
        }
        yieldedHadTurn = false;
        if (interactiveSinceBatch >= INTERACTIVE_PER_BATCH && !progress.onlyInteractive()) {
            interactiveSinceBatch = 0;
            if (take(worker.batch.poll())) {
                return true;
            }
            timeSlice.batchEnds();
        }
        if (take(worker.interactive.poll())) {
            interactiveSinceBatch++;
            return true;
        }
        return !progress.onlyInteractive() && (take(worker.batch.poll()) || hand.takeOwned(worker.yielded.poll()));
    }

    /** Takes a resumed task; whether there was one. */
    boolean takeResumed() {
        return hand.takeOwned(worker.resumed.poll());
    }

    private boolean take(@Nullable Task task) {
        if (task == null) {
            return false;
        }
        hand.take(task, false);
        help.taken(worker);
        return true;
    }

    /** Takes a task of another worker in hand. */
    private @Nullable Task stealFrom(Worker other) {
        Task task = other.resumed.poll();
        boolean begun = task != null;
        if (task == null) {
            task = other.pollRings(!progress.onlyInteractive());
        }
        if (task == null && !progress.onlyInteractive()) {
            task = other.yielded.poll();
            begun = task != null;
        }
        if (task == null) {
            return null;
        }
        hand.take(task, begun);
        help.taken(other);
        if (other.domain == worker.domain) {
            counters.add(Counter.INTRA_STEALS, 1);
        } else {
            counters.add(Counter.CROSS_STEALS, 1);
            hand.stolenFromDomainOf(other);
        }
        return task;
    }

    /** Called after the turn of a yielded task: other tasks go first. */
    void yieldedHadTurn() {
        yieldedHadTurn = true;
    }

    // ---- Whether anything waits.

    /** Whether there is a task that this worker may take without the gate. */
    boolean seesTask() {
        if (worker.waiting() > 0 || maintenance.waits()) {
            return true;
        }
        for (int level = 0; level < stealOrder.levels(); level++) {
            for (int i = 0; i < stealOrder.victims(level); i++) {
                if (pool.waiting(stealOrder.victim(level, i)) > 0) {
                    return true;
                }
            }
        }
        return !help.isGated() && stealOrder.gatedLevels() > 0 && pool.anythingWaits();
    }

    /** Whether there is a task for {@link #next} while only interactive tasks may be taken. */
    boolean seesInteractiveTask() {
        if (worker.resumed.size() > 0 || worker.interactive.waiting() > 0) {
            return true;
        }
        for (int level = 0; level < stealOrder.levels(); level++) {
            for (int i = 0; i < stealOrder.victims(level); i++) {
                if (pool.worker(stealOrder.victim(level, i)).interactive.waiting() > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The other workers as victims of this thief. */
    private final class OtherWorkers implements Stealing.Victims<Task> {
        @Override
        public int waiting(int other) {
            return pool.waiting(other);
        }

        @Override
        public int waitingIn(int domain) {
            return pool.waitingIn(domain);
        }

        @Override
        public boolean gateOpens(int domain) {
            return help.gateOpens(worker.domain, domain);
        }

        @Override
        public @Nullable Task take(int other) {
            return stealFrom(pool.worker(other));
        }
    }
}
