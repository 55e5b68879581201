package io.github.roost.core.pool;

import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.pool.Task.After;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.stall.StallPolicy;
import io.github.roost.core.stall.StallStats;
import io.github.roost.core.stall.filling.StallFilling;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.Step;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The thread that runs a worker: takes a task, runs a slice of it, settles the task, and sleeps if there is nothing to run. It
 * takes tasks in this order: resumed tasks; own rings; the rings of the domain; maintenance of the domain; other domains, behind
 * the gate.
 *
 * <p>No error loses a task. From the moment it is taken, a task is {@link #inHand} or in a stack frame, and the code that catches
 * the error fails it. If that also fails because memory is out, the task goes into a list that needs no allocation and is failed
 * later. The thread survives all errors.
 */
final class Runner implements Runnable {
    /** Interactive tasks after which a waiting batch task goes first, so that batch work is never starved. */
    private static final int INTERACTIVE_PER_BATCH = 32;
    /** Maximum nesting depth at which a waiting search runs queued tasks that are not its own children. */
    private static final int HELP_DEPTH = 8;
    /** Maximum nesting depth at which a waiting search runs resumed tasks. */
    private static final int RESUMED_DEPTH = 2 * HELP_DEPTH;
    /** Sleep of a waiting worker between looks for a task to help with. */
    private static final long HELP_PAUSE_NANOS = 50_000;
    /** Minimum time between two yields of the core by batch work: a hundred times the cost of the yield call. */
    private static final long YIELD_NANOS = 50_000;
    /** Minimum ratio of batch work to the time the core was away before it: batch work yields at most a fifth of its time. */
    private static final long WORK_PER_YIELD = 4;
    /** Sleep of a worker before it retries to fail a task that it could not fail. */
    private static final long UNANSWERED_PAUSE_NANOS = 1_000_000;
    /** A look takes about 100 ns; a yield of the core costs several times that, even if no thread uses it. */
    private static final int LOOKS_PER_YIELD = 16;
    /** Divisor of the running mean of task times. */
    private static final int TASKS_PER_MEAN = 8;
    /** Maximum credit of maintenance, however long none ran. */
    private static final double MAX_CREDIT_NANOS = 1_000_000;

    private static final VarHandle CURRENT;
    private static final VarHandle SLICES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CURRENT = lookup.findVarHandle(Progress.class, "current", Frame.class);
            SLICES = lookup.findVarHandle(Progress.class, "slices", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Worker worker;
    private final WorkerPool pool;
    private final CrossDomainHelp help;
    private final Wakeups wakeups;
    private final Endings endings;
    private final ShardState shard;
    private final StealOrder stealOrder;
    private final Stealing<Task> stealing;
    private final WorkerCounters counters;
    private final WorkerThread thread;
    private final @Nullable Runner replaced;
    private final WorkerTimeSlice timeSlice = new WorkerTimeSlice();
    private final Progress progress = new Progress();
    private final Frame bottom = new Frame(null, 1);
    /** Allocated once: delivery of a task must not allocate. */
    private final Consumer<Task> follow = this::follow;

    private IdleStrategy idleStrategy;

    /** The task taken from a queue, until its slice has run; code that catches an error fails it. */
    private @Nullable Task inHand;
    /** Whether the task in hand is claimed. */
    private boolean owned;
    /** The domain that the task in hand was taken from if it is not this worker's domain, else -1. */
    private int strayedFrom = -1;
    /** The worker that the stray task in hand was taken from. */
    private int victim;
    /** The task that continues in this thread after the running slice is settled. */
    private @Nullable Task following;
    /** Whether this worker counts as idle in its shard. */
    private boolean countedIdle;
    /** Whether the last turn was a yielded task's. */
    private boolean yieldedHadTurn;
    /** Nanoseconds of maintenance that are due: its share of the time that searches ran. */
    private double credit;
    /** The stall state; written by this thread, replaced when the policy changes. */
    private volatile StallFilling filling = new StallFilling(StallPolicy.POLLED);
    /** Time budget of the maintenance step in hand. */
    private long stepNanos = StallPolicy.STEP_NANOS;
    /** Whether the last slice was maintenance. */
    private boolean afterMaintenance;

    /** @param replaced the runner that runs the worker before this one; null for none */
    Runner(Worker worker, WorkerPool pool, @Nullable Runner replaced) {
        this.replaced = replaced;
        this.worker = worker;
        this.pool = pool;
        this.help = pool.help();
        this.wakeups = pool.wakeups();
        this.endings = pool.endings();
        this.shard = pool.shard(worker.shard);
        this.stealOrder = pool.stealOrder(worker.index);
        this.stealing = new Stealing<>(pool.layout(), stealOrder, new OtherWorkers(), pool.platform()::random);
        this.counters = worker.countersOf(this);
        this.idleStrategy = pool.idleStrategy();
        this.thread = new WorkerThread(this, "roost-worker-" + worker.domain + "." + worker.index);
    }

    void start() {
        thread.start();
    }

    WorkerThread thread() {
        return thread;
    }

    Worker worker() {
        return worker;
    }

    /** Whether a task runs. Any thread. */
    boolean isRunning() {
        return progress.current != null;
    }

    @Override
    @SuppressWarnings(
            "ThreadPriorityCheck") // for the moment until the starting thread has made this the worker's runner
    public void run() {
        while (!worker.isRunBy(this) && worker.isRunBy(replaced)) {
            Thread.yield();
        }
        boolean pinned = false;
        Throwable struck = null;
        while (struck != null || goesOn()) {
            try {
                if (struck != null) {
                    recover(struck);
                    struck = null;
                }
                if (!pinned) {
                    pinned = true;
                    worker.pinned(pool.pin(worker));
                    timeSlice.begin();
                }
                loop();
            } catch (Throwable unexpected) {
                // Recovered from in the loop: if memory is out for that too, it is tried again.
                struck = unexpected;
            }
        }
        pool.ended(this);
    }

    private boolean goesOn() {
        return !pool.isTerminated() && worker.isRunBy(this);
    }

    private void loop() {
        while (goesOn()) {
            if (next() || waitForTask()) {
                endStall();
                runInHand();
            }
        }
    }

    /** Ends the stall at the first task that is not maintenance. Only a task of this domain that had begun gives a measurement. */
    private void endStall() {
        StallFilling stalls = filling;
        Task task = inHand;
        if (task == null || task.isMaintenance() || stalls.policy().isPlain()) {
            return;
        }
        long now = System.nanoTime();
        if (owned && strayedFrom < 0) {
            stalls.ends(now);
        } else {
            stalls.isOver(now);
        }
    }

    /** Called after a search has parked: begins a stall if there is no other task to run. */
    private void beginStall() {
        StallFilling stalls = filling;
        StallPolicy policy = pool.stalls();
        if (!policy.equals(stalls.policy())) {
            stalls = new StallFilling(policy);
            filling = stalls;
        }
        if (!policy.isPlain() && progress.current == null && worker.waiting() == 0 && !worker.parked.isEmpty()) {
            stalls.begins(progress.endOfLast, worker.sources.underWay(this));
        }
    }

    /** Statistics under a policy: none while the worker has had no stall since the policy was set. Any thread. */
    StallStats stalls(StallPolicy policy) {
        StallFilling stalls = filling;
        return stalls.policy().equals(policy) ? stalls.stats() : StallStats.NONE;
    }

    /** Recovers from an error outside of tasks: fails the task in hand, and resets the state that other threads read. */
    private void recover(Throwable unexpected) {
        failInHand(unexpected);
        CURRENT.setRelease(progress, null);
        progress.onlyInteractive = false;
        progress.mayBlock = 0;
        if (countedIdle) {
            endIdle();
        }
        worker.getsUp(this);
        pool.restarted(worker, unexpected);
    }

    private void failInHand(Throwable cause) {
        Task task = inHand;
        inHand = null;
        if (strayedFrom >= 0) {
            strayedFrom = -1;
            shard.strayEnds();
        }
        if (task != null && (owned || task.claim())) {
            endings.failOwned(task, worker, cause);
        }
    }

    // ---- Choosing the next task.

    /** Takes the next task in hand, from the queues that need no gate; whether there was one. */
    private boolean next() {
        lookAround();
        if (takeOwn()) {
            return true;
        }
        // stealFrom sets the task in hand.
        return stealing.ungated() != null;
    }

    /** Handles events other than tasks: arrived completions, deadlines of parked tasks, failures that are still to be delivered. */
    private void lookAround() {
        worker.sources.poll(this);
        if (worker.parked.nanosToDeadline() == 0) {
            worker.parked.expire();
        }
        if (worker.unanswered.size() > 0) {
            endings.answerAgain(worker);
        }
    }

    private boolean takeOwn() {
        if (takeOwned(worker.resumed.poll())) {
            return true;
        }
        if (!progress.onlyInteractive && credit > 0 && !filling.isEmpty() && takeMaintenance(StallPolicy.STEP_NANOS)) {
            return true;
        }
        if (!yieldedHadTurn && !progress.onlyInteractive && takeOwned(worker.yielded.poll())) {
            yieldedHadTurn = true;
            return true;
        }
        yieldedHadTurn = false;
        if (progress.interactiveSinceBatch >= INTERACTIVE_PER_BATCH && !progress.onlyInteractive) {
            progress.interactiveSinceBatch = 0;
            if (take(worker.batch.poll())) {
                return true;
            }
            timeSlice.batchEnds();
        }
        if (take(worker.interactive.poll())) {
            progress.interactiveSinceBatch++;
            return true;
        }
        return !progress.onlyInteractive && (take(worker.batch.poll()) || takeOwned(worker.yielded.poll()));
    }

    private boolean takeMaintenance(long nanos) {
        stepNanos = nanos;
        return takeOwned(pool.maintenance(worker.domain).poll());
    }

    /** Takes maintenance when there is nothing else to run, if the stall may be filled. */
    private boolean fill() {
        if (pool.maintenance(worker.domain).size() == 0) {
            return false;
        }
        StallFilling stalls = filling;
        long nanos = stalls.isMeasured() ? stalls.mayRun(System.nanoTime()) : StallPolicy.STEP_NANOS;
        return nanos > 0 && takeMaintenance(nanos);
    }

    private boolean take(@Nullable Task task) {
        if (task == null) {
            return false;
        }
        inHand = task;
        owned = false;
        help.taken(worker);
        return true;
    }

    private boolean takeOwned(@Nullable Task task) {
        if (task == null) {
            return false;
        }
        inHand = task;
        owned = true;
        return true;
    }

    /** Takes a task of another worker in hand. */
    private @Nullable Task stealFrom(int from) {
        Worker other = pool.worker(from);
        Task task = other.resumed.poll();
        boolean begun = task != null;
        if (task == null) {
            task = other.pollRings(!progress.onlyInteractive);
        }
        if (task == null && !progress.onlyInteractive) {
            task = other.yielded.poll();
            begun = task != null;
        }
        if (task == null) {
            return null;
        }
        inHand = task;
        owned = begun;
        help.taken(other);
        if (other.domain == worker.domain) {
            counters.add(Counter.INTRA_STEALS, 1);
        } else {
            counters.add(Counter.CROSS_STEALS, 1);
            victim = from;
            strayedFrom = other.domain;
            shard.strayBegins();
        }
        return task;
    }

    // ---- Nothing to run.

    /** Looks and sleeps until there is a task in hand; false if the worker is to end. */
    private boolean waitForTask() {
        progress.endOfLast = 0;
        StallFilling stalls = filling;
        if (!stalls.isMeasured()) {
            stalls.isOver(0);
        } else if (worker.parked.isEmpty()) {
            stalls.isOver(System.nanoTime());
        }
        shard.idleBegins();
        countedIdle = true;
        boolean found = false;
        for (int looks = 1; !found && goesOn(); looks++) {
            found = fill() || stealing.gated() != null || findsWhilePausing(looks) || next();
        }
        endIdle();
        return found;
    }

    /** Pauses before the next look; instead of going to sleep, takes a task in hand if any domain has one: whether it did. */
    private boolean findsWhilePausing(int looks) {
        if (filling.isMeasured() && pool.maintenance(worker.domain).size() > 0) {
            // The stall is being measured, so the core must not be yielded.
            Thread.onSpinWait();
        } else if (looksAgain(looks)) {
            spin(looks);
        } else if (stealing.gatedAnywhere() != null) {
            return true;
        } else {
            park();
        }
        return false;
    }

    /**
     * Callers share the cores, so an idle worker must not keep the core from a thread that is about to submit. At the first look
     * that may be the caller whose answer was just delivered, and which was woken on this core.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void spin(int looks) {
        if (looks % LOOKS_PER_YIELD == 1) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** Calls the idle strategy; after a failure replaces it, since restarting the thread would not help. */
    private boolean looksAgain(int looks) {
        try {
            return idleStrategy.looksAgain(looks);
        } catch (Throwable e) {
            idleStrategy = IdleStrategy.spinThenPark(0);
            pool.idleStrategyFailed(worker, e);
            return false;
        }
    }

    private void endIdle() {
        countedIdle = false;
        shard.idleEnds();
    }

    @SuppressWarnings("ThreadPriorityCheck") // the purpose is to yield the core
    private void park() {
        timeSlice.batchEnds();
        shard.parkBegins();
        try {
            worker.parks(this);
            if (mayTakeSomething()) {
                // A task is visible but another thread is about to put or take it, perhaps on this core.
                Thread.yield();
            } else if (worker.sources.armed(this)) {
                sleep();
            }
        } finally {
            worker.getsUp(this);
            shard.parkEnds();
        }
    }

    private void sleep() {
        long nanos = worker.parked.nanosToDeadline();
        if (worker.unanswered.size() > 0 || worker.sources.unarmed()) {
            nanos = Math.min(nanos, UNANSWERED_PAUSE_NANOS);
        }
        if (nanos == Long.MAX_VALUE) {
            counters.add(Counter.PARKS, 1);
            pool.platform().park(worker);
        } else if (nanos > 0) {
            pool.platform().parkNanos(worker, nanos);
        }
    }

    /** Whether a worker that has marked itself as asleep must stay awake because there is a task that it may take. */
    boolean mayTakeSomething() {
        if (!goesOn() || worker.waiting() > 0 || pool.maintenance(worker.domain).size() > 0) {
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

    // ---- Running.

    /** Runs the task in hand, and the tasks that continue in this thread after it. */
    private void runInHand() {
        while (inHand != null) {
            runSlice(bottom());
            Task then = following;
            following = null;
            inHand = then;
            owned = true;
        }
    }

    private Frame bottom() {
        Frame current = progress.current;
        return current == null ? bottom : current.inner();
    }

    private void runSlice(Frame frame) {
        Task task = inHand;
        if (task == null) {
            return;
        }
        Frame outer = frame.outer;
        boolean claimed = owned;
        // A slice nested in this one must not be taken for the stray task, nor end it.
        frame.strayedFrom = strayedFrom;
        strayedFrom = -1;
        After after = After.ENDED;
        Throwable unexpected = null;
        try {
            Faults.point();
            // A task that begins when another ended reuses its reading of the clock. A task with a deadline does not,
            // since
            // continuations of the other task's future have run in between.
            boolean shares = outer == null && progress.endOfLast != 0 && task.deadlineNanos() == Task.NO_DEADLINE;
            frame.begin(task, shares ? progress.endOfLast : System.nanoTime());
            frame.mayBlock = false;
            // Set before the claim, which orders it before the check of waiting tasks: see Worker.
            CURRENT.setRelease(progress, frame);
            SLICES.setOpaque(progress, progress.slices + 1);
            if (claimed) {
                VarHandle.fullFence();
            } else {
                claimed = task.claim();
            }
            if (claimed) {
                Faults.point();
                beforeSlice(frame, task);
                Throwable failure = pool.failure();
                if (failure == null) {
                    after = task.run(frame);
                } else {
                    frame.finished(Outcome.FAILED);
                    task.fail(failure);
                }
            }
        } catch (Throwable error) {
            unexpected = error;
            after = After.ENDED;
            // If the error struck before the claim: the task is in no queue, so no other thread would run or fail it.
            claimed = claimed || task.claim();
        }
        inHand = null;
        frame.endsSubmitting();
        CURRENT.setRelease(progress, outer);
        if (outer == null) {
            // An interrupt left by user code must not keep this worker from sleeping.
            Thread.interrupted();
        }
        if (frame.strayedFrom >= 0) {
            shard.strayEnds();
        }
        if (claimed) {
            if (unexpected == null) {
                settle(task, frame, after);
            } else {
                fail(task, frame, unexpected);
            }
        }
        frame.strayedFrom = -1;
        frame.forget();
        afterMaintenance = task.isMaintenance();
        if (unexpected != null) {
            pool.restarted(worker, unexpected);
        }
    }

    /** Wakes workers for the tasks that wait behind this slice, and notifies the listener of a task that has crossed. */
    private void beforeSlice(Frame frame, Task task) {
        wakeups.wakeFor(worker);
        if (frame.strayedFrom >= 0) {
            wakeups.stole(worker, frame.strayedFrom);
            pool.crossSteal(worker.index, victim, task);
        }
    }

    private void fail(Task task, Frame frame, Throwable cause) {
        try {
            frame.finished(Outcome.FAILED);
        } catch (Throwable cannotBook) {
            // The counts may be off by one; the task is failed below.
            counters.add(Counter.FAILED, 1);
        }
        endings.failBooked(task, worker, cause);
    }

    /** Settles a task after a slice: delivers, requeues, parks or forks it. */
    private void settle(Task task, Frame frame, After after) {
        try {
            switch (after) {
                case ENDED -> {
                    earnCredit(task, frame);
                    endings.over(task, worker, follow);
                }
                case YIELDED -> {
                    bookSlice(task, frame);
                    // This was the turn of a yielded task: other tasks go first.
                    yieldedHadTurn = true;
                    worker.resumeLater(task);
                }
                case PARKED -> {
                    bookSlice(task, frame);
                    park(task, frame);
                    beginStall();
                }
                case FORKED -> {
                    bookSlice(task, frame);
                    fork(task, frame);
                }
            }
        } catch (Throwable error) {
            if (after == After.ENDED) {
                // The task has been counted out, so there is nothing left to fail.
                throw error;
            }
            fail(task, frame, error);
        }
    }

    private void park(Task task, Frame frame) {
        Faults.point();
        Parked.park(worker, task, ((Step.Park<?, ?>) step(frame)).pending());
    }

    private void fork(Task task, Frame frame) {
        Faults.point();
        pool.dispatch().fork((Stepper) task, (Step.Fork<?, ?, ?, ?>) step(frame), follow);
    }

    private static Step<?, ?> step(Frame frame) {
        Step<?, ?> step = frame.step();
        if (step == null) {
            throw new IllegalStateException("a slice that parks or forks must say how");
        }
        return step;
    }

    /** Continues a task: in this thread if no slice is running, else in the resumed list, where other workers may take it. */
    private void follow(Task task) {
        if (following == null && progress.current == null && !task.isMaintenance()) {
            following = task;
        } else {
            worker.resume(task);
        }
    }

    /** Books a slice after which its task continues. */
    private void bookSlice(Task task, Frame frame) {
        long end = System.nanoTime();
        progress.endOfLast = end;
        counters.add(Counter.RUN_NANOS, end - frame.startNanos());
        frame.bookTraffic();
        earnCredit(task, frame);
    }

    /** Updates the mean time of tasks. */
    private void ran(long nanos) {
        long before = progress.meanNanos;
        long mean = before + (nanos - before) / TASKS_PER_MEAN;
        progress.meanNanos = mean;
        worker.runsTasksOf(mean);
    }

    private void earnCredit(Task task, Frame frame) {
        if (task.isMaintenance()) {
            credit -= progress.endOfLast - frame.startNanos();
            filling.ran(frame.startNanos(), progress.endOfLast);
        } else if (pool.maintenance(worker.domain).size() > 0) {
            credit = Math.min(
                    MAX_CREDIT_NANOS, credit + pool.maintenanceShare() * (progress.endOfLast - frame.startNanos()));
        } else {
            credit = 0;
        }
    }

    /** Fails the task that runs and the tasks that it is nested in. Any thread. */
    void failRunning(Throwable cause) {
        for (Frame frame = progress.current; frame != null; frame = frame.outer) {
            frame.fail(cause);
        }
    }

    // ---- Waiting inside a search.

    /** Called when the running slice has submitted a task, for which it may wait later. Only in this thread. */
    void submitted(Task task) {
        Frame frame = progress.current;
        if (frame != null) {
            frame.submitted(task);
            mayBlockIn(frame);
        }
    }

    /** Called when the running slice is about to wait in a way that Roost does not see. Only in this thread. */
    void aboutToBlock() {
        Frame frame = progress.current;
        if (frame != null) {
            mayBlockIn(frame);
        }
    }

    /** Marks a slice as one that may block its thread, because it has submitted tasks or waits. */
    private void mayBlockIn(Frame frame) {
        if (!frame.mayBlock) {
            frame.mayBlock = true;
            int before = progress.mayBlock;
            progress.mayBlock = before + 1;
        }
        pool.watch().arm();
    }

    /** The number of slices begun: if it is equal at two looks, the same slice still runs. Any thread. */
    long slices() {
        return (long) SLICES.getOpaque(progress);
    }

    /** Whether a running slice, or one that it is nested in, has submitted tasks or waits. Any thread. */
    boolean mayBlock() {
        return progress.mayBlock > 0;
    }

    /** Whether the thread is blocked while {@link #mayBlock}: it may wait for a task that it submitted. Any thread. */
    boolean isBlocked() {
        return mayBlock()
                && switch (thread.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> true;
                    default -> false;
                };
    }

    /** Whether the thread waits for a moment, and will then poll its sources and the deadlines of parked tasks. Any thread. */
    boolean looksAgain() {
        return progress.looksAgain;
    }

    /** Runs a task that this thread is about to wait for. */
    void runIfUnclaimed(Task task) {
        StackRoom.require();
        if (task.claim()) {
            runNested(task, true);
        } else {
            Frame waiting = progress.current;
            if (waiting != null) {
                mayBlockIn(waiting);
            }
        }
    }

    /**
     * Runs tasks that a future may depend on until it is done, the time is up, or the thread is interrupted: first the children of
     * the waiting search, newest first; then resumed tasks; then, up to a maximum depth, tasks queued in the domain.
     */
    void helpUntilDone(Future<?> future, long untilNanos) {
        StackRoom.require();
        Frame waiting = progress.current;
        if (waiting != null) {
            mayBlockIn(waiting);
        }
        boolean onlyInteractive = progress.onlyInteractive;
        try {
            help(future, untilNanos, waiting, onlyInteractive);
        } finally {
            progress.onlyInteractive = onlyInteractive;
        }
    }

    private void help(Future<?> future, long untilNanos, @Nullable Frame waiting, boolean onlyInteractive) {
        while (!future.isDone() && !Thread.currentThread().isInterrupted() && !isPast(untilNanos)) {
            Task child = waiting == null ? null : waiting.child();
            if (child != null) {
                if (child.claim()) {
                    runNested(child, true);
                }
            } else if (help(waiting)) {
                runNestedInHand();
            } else {
                pause(future, waiting);
            }
            progress.onlyInteractive = onlyInteractive;
        }
    }

    /** Waits a moment before the thread looks around again; {@link Watch} need not relieve it for completions that it then sees. */
    private void pause(Object blocker, @Nullable Frame waiting) {
        progress.looksAgain = waiting == null || waiting.depth < HELP_DEPTH;
        LockSupport.parkNanos(blocker, HELP_PAUSE_NANOS);
        progress.looksAgain = false;
    }

    private static boolean isPast(long untilNanos) {
        return untilNanos != Task.NO_DEADLINE && System.nanoTime() - untilNanos >= 0;
    }

    /** Takes a task in hand that is not a child of the waiting search. */
    private boolean help(@Nullable Frame waiting) {
        if (waiting != null && waiting.depth >= HELP_DEPTH) {
            // Only here do completions arrive and deadlines pass, which resume the tasks that this one waits for.
            lookAround();
            // At the last depth the thread only waits; Watch relieves it if tasks wait behind it.
            return waiting.depth < RESUMED_DEPTH && takeOwned(worker.resumed.poll());
        }
        if (takeOwned(worker.resumed.poll())) {
            return true;
        }
        // An interactive search must not run batch work nested in it and wait for its end.
        progress.onlyInteractive |= waiting != null && !waiting.isBatch();
        return nextNested();
    }

    /** As {@link #next}, nested in a slice: after an error no task may stay in hand. */
    private boolean nextNested() {
        try {
            return next();
        } catch (Throwable unexpected) {
            failInHand(unexpected);
            throw unexpected;
        }
    }

    private void runNested(Task task, boolean isClaimed) {
        inHand = task;
        owned = isClaimed;
        runNestedInHand();
    }

    private void runNestedInHand() {
        try {
            runSlice(bottom());
        } catch (Throwable unexpected) {
            failInHand(unexpected);
            throw unexpected;
        }
    }

    // ---- Batch work lets searches go first.

    /**
     * Called within a batch task: runs waiting interactive tasks, of this worker or of workers that it may steal from without a
     * gate, and now and then yields the core to other threads. Without a yield, a thread that wakes up on a busy core gets it only
     * at the next tick of the operating system's clock, up to 4 ms later on Linux; a caller would then submit all searches of
     * that time in one burst. No other batch work runs in between: it may be of the same kind as the interrupted task.
     */
    @SuppressWarnings("ThreadPriorityCheck") // the purpose is to yield the core
    void yieldToSearches() {
        if (progress.onlyInteractive) {
            return;
        }
        timeSlice.batchBegins();
        boolean ran = runInteractive();
        long left = System.nanoTime();
        if (left - progress.yieldsAt >= 0) {
            Thread.yield();
            progress.yieldsAt = nextYield(left, System.nanoTime());
            if (!ran) {
                runInteractive();
            }
        }
    }

    /**
     * When to yield the core again, after a yield from {@code leftNanos} to {@code backNanos}: after at least four times the length
     * of that yield. If other threads are CPU-bound on the core, a yield lasts for their time slice of milliseconds; a yield every
     * 50 us would almost stop the batch work.
     */
    static long nextYield(long leftNanos, long backNanos) {
        return backNanos + Math.max(YIELD_NANOS, WORK_PER_YIELD * (backNanos - leftNanos));
    }

    /**
     * Runs waiting interactive tasks; false if none ran. After the maximum number of interactive tasks, the batch task runs for
     * at least their mean time before it is interrupted again.
     */
    private boolean runInteractive() {
        if (!interactiveTaskWaits()) {
            return false;
        }
        long began = System.nanoTime();
        if (began - progress.undisturbedUntil < 0) {
            return false;
        }
        progress.onlyInteractive = true;
        int ran = 0;
        try {
            while (ran < INTERACTIVE_PER_BATCH && nextNested()) {
                runNestedInHand();
                ran++;
            }
            if (ran == INTERACTIVE_PER_BATCH) {
                long end = System.nanoTime();
                progress.undisturbedUntil = end + (end - began) / INTERACTIVE_PER_BATCH;
            }
        } finally {
            progress.onlyInteractive = false;
        }
        return ran > 0;
    }

    private boolean interactiveTaskWaits() {
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
            return stealFrom(other);
        }
    }

    /** Fields that the thread writes with every task, on cache lines separate from the fields that submitters read. */
    @SuppressWarnings("unused")
    private static final class Progress extends CacheLinePadding {
        /** Written by the thread alone; the frame of the innermost slice. */
        private volatile @Nullable Frame current;
        /** Slices begun; written by the thread alone. */
        private long slices;
        /** Number of nested slices that have submitted tasks or wait; written by the thread, read by {@link Watch}. */
        private volatile int mayBlock;
        /** Whether the thread waits for a moment and then looks around; written by the thread, read by {@link Watch}. */
        private volatile boolean looksAgain;
        /** Interactive tasks since the last batch task. */
        private int interactiveSinceBatch;
        /** Whether only resumed and interactive tasks may be taken, since they run nested in another task. */
        private boolean onlyInteractive;
        /** The time until which the running batch task is not interrupted. */
        private long undisturbedUntil = System.nanoTime();
        /** The time of the next yield of the core by batch work. */
        private long yieldsAt = System.nanoTime();
        /** Running mean of task times. */
        private long meanNanos;
        /** When the last task ended; 0 if the worker has been idle since. */
        private long endOfLast;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    /** The context of a slice. There is one frame per nesting depth, reused for later slices at that depth. */
    private final class Frame extends TaskContext {
        private static final int MAX_CHILDREN = 1 << 12;
        private static final Task[] NO_TASKS = {};

        /** The frame of the slice that this one is nested in, or null. */
        private final @Nullable Frame outer;

        private final int depth;
        /** The domain that the task was taken from if it is not this worker's domain, else -1. */
        private int strayedFrom = -1;

        private @Nullable Frame inner;
        /** The tasks that the slice has submitted, oldest first; the first {@link #children} elements. */
        private @Nullable Task[] submitted = NO_TASKS;

        private int children;
        /** Whether it is counted in {@link Progress#mayBlock}. */
        private boolean mayBlock;

        Frame(@Nullable Frame outer, int depth) {
            this.outer = outer;
            this.depth = depth;
        }

        Frame inner() {
            Frame one = inner;
            if (one == null) {
                one = new Frame(this, depth + 1);
                inner = one;
            }
            return one;
        }

        boolean isBatch() {
            Task running = task();
            return running.isMaintenance() || running.priority() == Priority.BATCH;
        }

        /** Remembers a child. Beyond the maximum, or if memory is out, the child is only found where it is queued. */
        void submitted(Task task) {
            if (children == submitted.length) {
                if (children == MAX_CHILDREN) {
                    return;
                }
                try {
                    submitted = Arrays.copyOf(submitted, Math.max(8, 2 * children));
                } catch (OutOfMemoryError none) {
                    return;
                }
            }
            submitted[children++] = task;
        }

        /** Called at the end of the slice: clears its mark in {@link Progress#mayBlock} and its children. */
        void endsSubmitting() {
            if (mayBlock) {
                mayBlock = false;
                int before = progress.mayBlock;
                progress.mayBlock = before - 1;
            }
            while (children > 0) {
                submitted[--children] = null;
            }
        }

        /** Removes and returns the newest child, or null. */
        @Nullable
        Task child() {
            if (children == 0) {
                return null;
            }
            Task newest = submitted[--children];
            submitted[children] = null;
            return newest;
        }

        /** Fails the task of the running slice, or of one that has just ended; its future is done already. Any thread. */
        void fail(Throwable cause) {
            Task running = runningOrNull();
            if (running != null) {
                running.failRunning(cause);
            }
        }

        @Override
        public int worker() {
            return worker.index;
        }

        @Override
        public int domain() {
            return worker.domain;
        }

        @Override
        public long stepNanos() {
            return stepNanos;
        }

        @Override
        public boolean afterMaintenance() {
            return afterMaintenance;
        }

        @Override
        void book(Outcome outcome) {
            Faults.point();
            Task running = task();
            long end = System.nanoTime();
            progress.endOfLast = end;
            long submittedAt = running.submittedNanos();
            if (submittedAt != Task.NOT_TIMED) {
                counters.add(Counter.WAITS_TIMED, 1);
                counters.add(Counter.WAIT_NANOS, Math.max(0, startNanos() - submittedAt));
            }
            counters.add(Counter.RUN_NANOS, end - startNanos());
            ran(end - startNanos());
            if (running.countsAsTask()) {
                counters.add(Counter.RUNS_TIMED, 1);
                counters.add(WorkerPool.counterOf(outcome), 1);
            }
            if (outer == null && touchedAnything()) {
                help.measured(worker, strayedFrom < 0 ? worker.domain : strayedFrom, end - startNanos(), bytes());
            }
            bookTraffic();
            pool.ran(running, worker.index, end - startNanos());
        }

        void bookTraffic() {
            if (touchedAnything()) {
                if (task().countsAsSearch()) {
                    pool.monitor().add(worker.domain, task().slot(), bytes());
                } else {
                    pool.monitor().addBytes(worker.domain, task().slot(), bytes());
                }
            }
        }
    }
}
