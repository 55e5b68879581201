package io.github.roost.core.pool;

import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.pool.Task.After;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.stall.StallFilling;
import io.github.roost.core.stall.StallPolicy;
import io.github.roost.core.stall.StallStats;
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
 * The thread that runs a worker: takes a task, runs a slice of it, sees to what follows, and sleeps where there is nothing.
 * The order: what goes on after a wait; own rings; the rings of the domain; maintenance of the domain; other domains, behind
 * the gate.
 *
 * <p>No task is lost on the way, whatever error strikes. From the moment it is taken a task is either {@link #inHand} or that
 * of a frame, and whoever catches the error fails it. A task for which even that fails, for want of memory, goes into a list
 * that needs none, and is failed later. The thread itself survives all of it.
 */
final class Runner implements Runnable {
    /** Interactive tasks after which a waiting batch task goes first, so that batch work is never starved. */
    private static final int INTERACTIVE_PER_BATCH = 32;
    /** How deep a search that waits for others may run tasks that are not its own children, one in the midst of the other. */
    private static final int HELP_DEPTH = 8;
    /** As that, for those that go on after a wait. */
    private static final int RESUMED_DEPTH = 2 * HELP_DEPTH;
    /** How long a worker that waits for a derived future sleeps between looks for something to run. */
    private static final long HELP_PAUSE_NANOS = 50_000;
    /** How long batch work keeps the core from other threads: a hundred times as long as the call that lets them have it. */
    private static final long YIELD_NANOS = 50_000;
    /** How many times as long as it was away from the core batch work keeps it: at most a fifth of its time is given. */
    private static final long WORK_PER_YIELD = 4;
    /** How long a worker sleeps that could not tell a task of its failure, before it tries again. */
    private static final long UNANSWERED_PAUSE_NANOS = 1_000_000;
    /** Looks of some 100 ns each; to leave the core costs several times that, if nobody wants it. */
    private static final int LOOKS_PER_YIELD = 16;
    /** Tasks that the mean time of the last ones stands for. */
    private static final int TASKS_PER_MEAN = 8;
    /** Maintenance that is due at once at most, however long none ran. */
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
    private final ShardState shard;
    private final StealOrder stealOrder;
    private final Stealing<Task> stealing;
    private final WorkerCounters counters;
    private final WorkerThread thread;
    private final @Nullable Runner replaced;
    private final WorkerTimeSlice timeSlice = new WorkerTimeSlice();
    private final Progress progress = new Progress();
    private final Frame bottom = new Frame(null, 1);
    /** Made once: what follows a task must not need memory. */
    private final Consumer<Task> follow = this::follow;

    private IdleStrategy idleStrategy;

    /** A task between its queue and its frame; whoever catches an error fails it. */
    private @Nullable Task inHand;
    /** Whether the task in hand is claimed. */
    private boolean owned;
    /** The domain that the task in hand was taken from, if that is another one; else -1. */
    private int strayedFrom = -1;
    /** The worker it was taken from. */
    private int victim;
    /** What goes on in this thread when the slice that runs has been seen to. */
    private @Nullable Task following;
    /** Whether this worker counts as idle in its shard. */
    private boolean countedIdle;
    /** Whether a yielded task had the last turn. */
    private boolean yieldedHadTurn;
    /** Nanoseconds of maintenance that are due: its share of the time that searches ran. */
    private double credit;
    /** What is done with stalls; written by this thread, anew where the policy changes. */
    private volatile StallFilling filling = new StallFilling(StallPolicy.POLLED);
    /** For how long the step of maintenance in hand may go on. */
    private long stepNanos = StallPolicy.STEP_NANOS;
    /** Whether the last slice was maintenance. */
    private boolean afterMaintenance;

    /** @param replaced who runs the worker until this does */
    Runner(Worker worker, WorkerPool pool, @Nullable Runner replaced) {
        this.replaced = replaced;
        this.worker = worker;
        this.pool = pool;
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
            "ThreadPriorityCheck") // for the moment until who has started this thread says that it runs the worker
    public void run() {
        while (!worker.isRunBy(this) && worker.isRunBy(replaced)) {
            Thread.yield();
        }
        boolean pinned = false;
        while (goesOn()) {
            try {
                if (!pinned) {
                    pinned = true;
                    worker.pinned(pool.pin(worker));
                    timeSlice.begin();
                }
                loop();
            } catch (Throwable unexpected) {
                recover(unexpected);
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

    /** A stall ends with the first task that is no maintenance: its own search, or another, with which its measure is lost. */
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

    /** A search has parked: where nothing else is to be run, a stall begins. */
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

    /** Any thread. */
    StallStats stalls() {
        return filling.stats();
    }

    /** An error that no task has thrown: fails what it struck, and leaves no trace in what others read. */
    private void recover(Throwable unexpected) {
        failInHand(unexpected);
        CURRENT.setRelease(progress, null);
        progress.givesWay = false;
        progress.mayBlock = 0;
        if (countedIdle) {
            endIdle();
        }
        if (worker.isRunBy(this)) {
            worker.getsUp();
        }
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
            pool.failOwned(task, worker, cause);
        }
    }

    // ---- What to run next.

    /** Takes the next task in hand, from where tasks may be taken at any time; whether there was one. */
    private boolean next() {
        lookAround();
        if (takeOwn()) {
            return true;
        }
        // A thief takes the task in hand as it takes it.
        return stealing.ungated() != null;
    }

    /** What is not the running of tasks: completions that have arrived, deadlines of parked tasks, answers that failed. */
    private void lookAround() {
        worker.sources.poll(this);
        if (worker.parked.nanosToDeadline() == 0) {
            worker.parked.expire();
        }
        if (worker.unanswered.size() > 0) {
            pool.answerAgain(worker);
        }
    }

    private boolean takeOwn() {
        if (takeOwned(worker.resumed.poll())) {
            return true;
        }
        if (!progress.givesWay && credit > 0 && !filling.isEmpty() && takeMaintenance(StallPolicy.STEP_NANOS)) {
            return true;
        }
        if (!yieldedHadTurn && !progress.givesWay && takeOwned(worker.yielded.poll())) {
            yieldedHadTurn = true;
            return true;
        }
        yieldedHadTurn = false;
        if (progress.interactiveSinceBatch >= INTERACTIVE_PER_BATCH && !progress.givesWay) {
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
        return !progress.givesWay && (take(worker.batch.poll()) || takeOwned(worker.yielded.poll()));
    }

    private boolean takeMaintenance(long nanos) {
        stepNanos = nanos;
        return takeOwned(pool.maintenance(worker.domain).poll());
    }

    /** Maintenance where nothing else is to be run, if the stall may be filled. */
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
        pool.taken(worker);
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
            task = other.pollRings(!progress.givesWay);
        }
        if (task == null && !progress.givesWay) {
            task = other.yielded.poll();
            begun = task != null;
        }
        if (task == null) {
            return null;
        }
        inHand = task;
        owned = begun;
        pool.taken(other);
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

    /** Looks and then sleeps until there is a task in hand; false where the worker is to end. */
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
            found = fill() || stealing.gated() != null;
            if (!found) {
                if (filling.isMeasured() && pool.maintenance(worker.domain).size() > 0) {
                    // What a stall costs is measured: nobody else is to have the core in between.
                    Thread.onSpinWait();
                } else if (looksAgain(looks)) {
                    spin(looks);
                } else {
                    park();
                }
                found = next();
            }
        }
        endIdle();
        return found;
    }

    /**
     * Callers share the cores: who looks in vain must not keep the core from one that is about to submit. At the first such
     * look that may be the caller whose answer was just found, and which was woken on this core.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void spin(int looks) {
        if (looks % LOOKS_PER_YIELD == 1) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** Asks the strategy, unless it has failed: a fresh thread would ask it the same. */
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

    @SuppressWarnings("ThreadPriorityCheck") // to leave the core to whoever wants it is the purpose
    private void park() {
        timeSlice.batchEnds();
        shard.parkBegins();
        try {
            worker.parks();
            if (mayTakeSomething()) {
                // What is seen and could not be taken another thread is about to put or to take: maybe on this core.
                Thread.yield();
            } else if (worker.sources.armed(this)) {
                sleep();
            }
        } finally {
            worker.getsUp();
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

    /** Whether a worker that has marked itself as asleep must not sleep, for there is something that it may take. */
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
        return !pool.isGated() && stealOrder.gatedLevels() > 0 && pool.anythingWaits();
    }

    // ---- Running.

    /** Runs the task in hand, and what goes on in this thread after it. */
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
        boolean strays = strayedFrom >= 0;
        After after = After.ENDED;
        Throwable unexpected = null;
        try {
            Faults.point();
            // A task that begins where another ended shares the reading of the clock with it; not one with a deadline:
            // what follows the other's future has run in between.
            boolean shares = outer == null && progress.endOfLast != 0 && task.deadlineNanos() == Task.NO_DEADLINE;
            frame.begin(task, shares ? progress.endOfLast : System.nanoTime());
            frame.mayBlock = false;
            // Said before the claim, which orders it before the look at what waits: see Worker.
            CURRENT.setRelease(progress, frame);
            SLICES.setOpaque(progress, progress.slices + 1);
            if (claimed) {
                VarHandle.fullFence();
            } else {
                claimed = task.claim();
            }
            if (claimed) {
                Faults.point();
                beforeSlice(outer == null, task);
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
            // Struck before the claim: it is in no queue any more, so nobody else would come to it.
            claimed = claimed || task.claim();
        }
        inHand = null;
        strayedFrom = -1;
        frame.endsSubmitting();
        CURRENT.setRelease(progress, outer);
        if (outer == null) {
            // What user code left behind must not keep this worker from sleeping.
            Thread.interrupted();
        }
        if (strays) {
            shard.strayEnds();
        }
        if (claimed) {
            if (unexpected == null) {
                settle(task, frame, after);
            } else {
                fail(task, frame, unexpected);
            }
        }
        frame.forget();
        afterMaintenance = task.isMaintenance();
        if (unexpected != null) {
            pool.restarted(worker, unexpected);
        }
    }

    /** Wakes those who are to run what waits behind this slice, and tells who listens of a task that has crossed. */
    private void beforeSlice(boolean outermost, Task task) {
        pool.wakeFor(worker);
        if (outermost && strayedFrom >= 0) {
            pool.stole(worker, strayedFrom);
            pool.crossSteal(worker.index, victim, task);
        }
    }

    private void fail(Task task, Frame frame, Throwable cause) {
        try {
            frame.finished(Outcome.FAILED);
        } catch (Throwable cannotBook) {
            // The count is off by one; the task is failed below.
            counters.add(Counter.FAILED, 1);
        }
        pool.failBooked(task, worker, cause);
    }

    /** Sees to what a slice leaves to do. */
    private void settle(Task task, Frame frame, After after) {
        try {
            switch (after) {
                case ENDED -> {
                    earnCredit(task, frame);
                    pool.over(task, worker, follow);
                }
                case YIELDED -> {
                    bookSlice(task, frame);
                    // It had its turn now: something else goes first.
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
                // It has been counted out, and nothing is left to fail.
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

    /** A task goes on: here, if nothing is in the midst of running, else where another may take it. */
    private void follow(Task task) {
        if (following == null && progress.current == null && !task.isMaintenance()) {
            following = task;
        } else {
            worker.resume(task);
        }
    }

    /** Books a slice that does not end its task. */
    private void bookSlice(Task task, Frame frame) {
        long end = System.nanoTime();
        progress.endOfLast = end;
        counters.add(Counter.RUN_NANOS, end - frame.startNanos());
        frame.bookTraffic();
        earnCredit(task, frame);
    }

    /** A task has run for so long. */
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

    /** Fails the task that runs, and those in whose midst it does. Any thread. */
    void failRunning(Throwable cause) {
        for (Frame frame = progress.current; frame != null; frame = frame.outer) {
            frame.fail(cause);
        }
    }

    // ---- Waiting inside a search.

    /** The slice that runs has submitted a task, which it may come to wait for. This thread alone. */
    void submitted(Task task) {
        Frame frame = progress.current;
        if (frame != null) {
            frame.submitted(task);
            mayBlockIn(frame);
        }
    }

    /** The slice that runs is about to wait in a way that Roost does not see. This thread alone. */
    void aboutToBlock() {
        Frame frame = progress.current;
        if (frame != null) {
            mayBlockIn(frame);
        }
    }

    /** The slice that runs has submitted others, or waits for something: its thread may come to be blocked. */
    private void mayBlockIn(Frame frame) {
        if (!frame.mayBlock) {
            frame.mayBlock = true;
            int before = progress.mayBlock;
            progress.mayBlock = before + 1;
        }
        pool.watch().arm();
    }

    /** How many slices have begun: the same number at two looks means that one still runs. Any thread. */
    long slices() {
        return (long) SLICES.getOpaque(progress);
    }

    /** Whether a slice runs that has submitted others or waits for some, or that one does in whose midst it runs. Any thread. */
    boolean mayBlock() {
        return progress.mayBlock > 0;
    }

    /** Whether the thread is blocked in a slice that has submitted others, which may be what it waits for. Any thread. */
    boolean isBlocked() {
        return mayBlock()
                && switch (thread.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> true;
                    default -> false;
                };
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
     * Runs what a future may depend on until it is done, or the time is up: first the children of the search that waits, the
     * newest first; then what goes on after a wait; then, only so deep, what is queued in the domain.
     */
    void helpUntilDone(Future<?> future, long untilNanos) {
        StackRoom.require();
        Frame waiting = progress.current;
        if (waiting != null) {
            mayBlockIn(waiting);
        }
        boolean gaveWay = progress.givesWay;
        try {
            help(future, untilNanos, waiting, gaveWay);
        } finally {
            progress.givesWay = gaveWay;
        }
    }

    private void help(Future<?> future, long untilNanos, @Nullable Frame waiting, boolean gaveWay) {
        while (!future.isDone() && !Thread.currentThread().isInterrupted() && !isPast(untilNanos)) {
            Task child = waiting == null ? null : waiting.child();
            if (child != null) {
                if (child.claim()) {
                    runNested(child, true);
                }
            } else if (help(waiting)) {
                runNestedInHand();
            } else {
                LockSupport.parkNanos(future, HELP_PAUSE_NANOS);
            }
            progress.givesWay = gaveWay;
        }
    }

    private static boolean isPast(long untilNanos) {
        return untilNanos != Task.NO_DEADLINE && System.nanoTime() - untilNanos >= 0;
    }

    /** Takes a task in hand that is not the waiting search's own. */
    private boolean help(@Nullable Frame waiting) {
        if (waiting != null && waiting.depth >= RESUMED_DEPTH) {
            // From here on the thread only waits, and is relieved if what it waits for is behind it.
            return false;
        }
        if (takeOwned(worker.resumed.poll())) {
            return true;
        }
        if (waiting != null && waiting.depth >= HELP_DEPTH) {
            return false;
        }
        // A search does not wait for the end of batch work in its midst.
        progress.givesWay |= waiting != null && !waiting.isBatch();
        return nextNested();
    }

    /** As {@link #next}, in the midst of a slice: what it has taken in hand must not outlive an error. */
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
     * In the middle of a batch task, lets go first what waits: interactive tasks, here or where this worker may steal at
     * any time, and now and then the other threads of the core. A busy core is given to a thread that wakes up only at the
     * next tick of the operating system's clock, up to 4 ms later on Linux; were the thread a caller, all that it would have
     * submitted meanwhile would come at once. Nothing else of batch work runs in between: it may be of the kind that is
     * being interrupted.
     */
    @SuppressWarnings("ThreadPriorityCheck") // to leave the core to whoever wants it is the purpose
    void giveWay() {
        if (progress.givesWay) {
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
     * When to leave the core again, after it was left at one moment and back at another: only when the work has gone on for
     * four times as long. A core that other threads want to compute on comes back after a slice of theirs, of milliseconds:
     * work that left it every 50 us all the same would hardly go on at all.
     */
    static long nextYield(long leftNanos, long backNanos) {
        return backNanos + Math.max(YIELD_NANOS, WORK_PER_YIELD * (backNanos - leftNanos));
    }

    /**
     * Runs interactive tasks that wait; false if there were none. If as many have run as may go before a batch task, that
     * goes on for as long as one of them took before any goes first again.
     */
    private boolean runInteractive() {
        if (!interactiveTaskWaits()) {
            return false;
        }
        long began = System.nanoTime();
        if (began - progress.undisturbedUntil < 0) {
            return false;
        }
        progress.givesWay = true;
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
            progress.givesWay = false;
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

    /** The other workers, as this one sees them when it is a thief. */
    private final class OtherWorkers implements Stealing.Victims<Task> {
        @Override
        public int waiting(int other) {
            return pool.waiting(other);
        }

        @Override
        public boolean gateOpens(int domain) {
            return pool.gateOpens(worker.domain, domain);
        }

        @Override
        public @Nullable Task take(int other) {
            return stealFrom(other);
        }
    }

    /** What the thread writes with every task: on cache lines of its own, away from what submitters read. */
    @SuppressWarnings("unused")
    private static final class Progress extends CacheLinePadding {
        /** Written by the thread alone; the frame of the innermost slice. */
        private volatile @Nullable Frame current;
        /** Slices begun; written by the thread alone. */
        private long slices;
        /** Slices, one in the midst of the other, that have submitted others or wait; written by the thread, read by {@link Watch}. */
        private volatile int mayBlock;
        /** Interactive tasks since the last batch task. */
        private int interactiveSinceBatch;
        /** Whether a task has been interrupted for interactive ones. */
        private boolean givesWay;
        /** Until when the batch task that runs gives way to nobody. */
        private long undisturbedUntil = System.nanoTime();
        /** When batch work next lets other threads have the core. */
        private long yieldsAt = System.nanoTime();
        /** Mean time of the last tasks. */
        private long meanNanos;
        /** When the last task ended, 0 when the worker has looked around since. */
        private long endOfLast;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    /** The context of a slice, and of those in its midst one each; kept for the next ones as deep. */
    private final class Frame extends TaskContext {
        private static final int MAX_CHILDREN = 1 << 12;
        private static final Task[] NO_TASKS = {};

        /** Of the slice in whose midst this one runs. */
        private final @Nullable Frame outer;

        private final int depth;
        private @Nullable Frame inner;
        /** What the slice has submitted: so many, the oldest first. */
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

        /** Remembers a child; with very many, or without memory for more, it is found where it is queued. */
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

        /** The slice is over: it blocks no more, and nothing of what it has submitted is kept. */
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

        /** The newest child not given out yet, or null. */
        @Nullable
        Task child() {
            if (children == 0) {
                return null;
            }
            Task newest = submitted[--children];
            submitted[children] = null;
            return newest;
        }

        /** Fails the task of the slice that runs, or that ran a moment ago: then it is done. Any thread. */
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
                pool.measured(worker, strayedFrom < 0 ? worker.domain : strayedFrom, end - startNanos(), bytes());
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
