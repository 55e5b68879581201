package io.github.roost.simulator;

import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.Crossings;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.QueueAge;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.policy.SchedulingPolicy.Gate;
import io.github.roost.core.policy.SchedulingPolicy.Reach;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The worker pool of {@code core} on virtual time, with workers that sleep as soon as they find nothing. The pool's dispatchers, steal orders,
 * stealing, ages of queues and rule of crossings decide; this class has only the queues, the sleeping workers, and the points at which workers are
 * woken. These points are the same as in the pool, up to each draw of a random number: a test runs both on the same traces and compares every step.
 * Not thread-safe.
 */
final class VirtualPool {
    private static final int NOWHERE = -1;

    /** Receives the pool's timers. */
    interface Clock {
        double now();

        /** Calls {@link #next} for a worker at a time. */
        void wakeAt(double time, int worker);

        /** Calls {@link #watch} at a time, and not at the time of the call before if that is later. */
        void watchAt(double time);
    }

    private enum State {
        /** Has a task. */
        RUNNING,
        /** Found nothing to run and is awake, or was woken and is not up yet. */
        LOOKING,
        /** Asleep, and not woken. */
        SLEEPING
    }

    private final WorkerLayout layout;
    private final SchedulingPolicy scheduling;
    private final Clock clock;
    private final double wakeNanos;
    private final Dispatcher dispatcher;
    private final LoadView loads = new Loads();
    private final SplittableRandom random;
    private final Crossings.Domains domains = new SeenDomains();
    private final Crossings crossings;
    private final List<Queue<VirtualTask>> queues = new ArrayList<>();
    private final long[] taken;
    private final long[] put;
    private final QueueAge[] ages;
    private final List<Others> others = new ArrayList<>();
    private final List<Stealing<VirtualTask>> stealing = new ArrayList<>();
    private final StealOrder[] stealOrders;
    private final State[] states;
    /** The domain from which a worker's current task was stolen, if it is not its own; else {@link #NOWHERE}. */
    private final int[] stolenFrom;

    private final int[] lookingIn;
    private final int[] sleepingIn;
    private final int[] waitingIn;
    private final CrossingCost[] costs;
    /** Per worker the number of tasks at home until the next measurement. */
    private final int[] untilMeasure;

    private boolean watches;
    private double watchDue;
    /** From when a worker that looks may update the ages. */
    private long nextUpdate;

    private long roundRobin;
    private long intraSteals;
    private long crossSteals;

    /** @param wakeNanos from the wake-up of a thread to its first look */
    VirtualPool(
            WorkerLayout layout,
            SchedulingPolicy scheduling,
            CrossDomainGate gate,
            Clock clock,
            double wakeNanos,
            long seed) {
        this.layout = layout;
        this.scheduling = scheduling;
        this.clock = clock;
        this.wakeNanos = wakeNanos;
        this.dispatcher = Dispatcher.of(scheduling, layout);
        this.random = new SplittableRandom(seed);
        this.crossings = new Crossings(layout, scheduling, gate, domains);
        int workers = layout.workers();
        this.stealOrders = new StealOrder[workers];
        this.taken = new long[workers];
        this.put = new long[workers];
        this.ages = new QueueAge[workers];
        Arrays.fill(ages, QueueAge.NONE);
        this.states = new State[workers];
        Arrays.fill(states, State.SLEEPING);
        this.stolenFrom = new int[workers];
        Arrays.fill(stolenFrom, NOWHERE);
        this.lookingIn = new int[layout.domains()];
        this.sleepingIn = new int[layout.domains()];
        Arrays.setAll(sleepingIn, layout::workersIn);
        this.waitingIn = new int[layout.domains()];
        this.costs = new CrossingCost[layout.domains()];
        Arrays.fill(costs, CrossingCost.UNKNOWN);
        this.untilMeasure = new int[workers];
        Arrays.fill(untilMeasure, CrossingCost.TASKS_PER_MEASURE);
        for (int worker = 0; worker < workers; worker++) {
            stealOrders[worker] = StealOrder.of(scheduling, layout, worker);
            queues.add(new ArrayDeque<>());
            others.add(new Others(worker));
            stealing.add(new Stealing<>(layout, stealOrders[worker], others.get(worker), random::nextInt));
        }
    }

    /** Puts a task into the queue of the worker that the dispatcher chooses, and wakes a worker that may run it. */
    void submit(VirtualTask task, Mapping mapping) {
        long ticket = scheduling.usesHomes() ? random.nextLong() : roundRobin++;
        int target = dispatcher.worker(task.slot, mapping, loads, ticket);
        int domain = layout.domainOf(target);
        queues.get(target).add(task);
        put[target]++;
        waitingIn[domain]++;
        if (scheduling.reach() == Reach.WORKER) {
            wake(target);
        } else if (sleepingIn[domain] > 0) {
            if (!wake(target) && lookingIn[domain] == 0) {
                wakeAfter(target);
            }
        } else if (lookingIn[domain] == 0 && layout.domains() > 1) {
            if (!scheduling.gated()) {
                wakeElsewhere(domain);
            } else if (!watches) {
                lookSoon();
            }
        }
    }

    /** The load of the workers, as the dispatcher sees it. */
    private final class Loads implements LoadView {
        @Override
        public int load(int worker) {
            return VirtualPool.this.load(worker);
        }

        @Override
        public boolean noneAsleepBeside(int worker) {
            return sleepingIn[layout.domainOf(worker)] == 0;
        }
    }

    int load(int worker) {
        return queues.get(worker).size() + (states[worker] == State.RUNNING ? 1 : 0);
    }

    /** Whether any domain has more idle workers than waiting tasks. */
    boolean anyFree() {
        for (int domain = 0; domain < layout.domains(); domain++) {
            if (domains.idle(domain) > waitingIn[domain]) {
                return true;
            }
        }
        return false;
    }

    // ---- Waking.

    private void become(int worker, State next) {
        int domain = layout.domainOf(worker);
        count(domain, states[worker], -1);
        count(domain, next, 1);
        states[worker] = next;
    }

    private void count(int domain, State state, int change) {
        switch (state) {
            case RUNNING -> {}
            case LOOKING -> lookingIn[domain] += change;
            case SLEEPING -> sleepingIn[domain] += change;
        }
    }

    private boolean wake(int worker) {
        if (states[worker] != State.SLEEPING) {
            return false;
        }
        become(worker, State.LOOKING);
        clock.wakeAt(clock.now() + wakeNanos, worker);
        return true;
    }

    /** Wakes the first sleeper of a domain, if any. */
    private void wakeFirst(int domain) {
        wakeFrom(domain, 0);
    }

    /** Wakes the next sleeper of a worker's domain, if any. */
    private void wakeAfter(int worker) {
        int domain = layout.domainOf(worker);
        wakeFrom(domain, worker - layout.workerIn(domain, 0) + 1);
    }

    private void wakeFrom(int domain, int start) {
        int count = layout.workersIn(domain);
        for (int i = 0; sleepingIn[domain] > 0 && i < count; i++) {
            if (wake(layout.workerIn(domain, (start + i) % count))) {
                return;
            }
        }
    }

    /** Without a gate: wakes a worker of the next domain that has one, unless one is awake before that. */
    private void wakeElsewhere(int domain) {
        for (int i = 1; i < layout.domains(); i++) {
            int next = (domain + i) % layout.domains();
            if (lookingIn[next] > 0) {
                return;
            }
            if (sleepingIn[next] > 0) {
                wakeFirst(next);
                return;
            }
        }
    }

    /** A worker that was idle has a task: if more wait, the next sleeper is woken. */
    private void wakeNext(int worker) {
        int domain = layout.domainOf(worker);
        if (scheduling.reach() == Reach.WORKER || lookingIn[domain] > 0) {
            return;
        }
        if (!scheduling.gated()) {
            wakeAnywhere(domain);
        } else if (waitingIn[domain] > 0) {
            if (sleepingIn[domain] > 0) {
                wakeAfter(worker);
            } else if (!watches) {
                lookSoon();
            }
        }
    }

    /** Without a gate: wakes a worker of any domain, the given one first, if a task waits in any. */
    private void wakeAnywhere(int domain) {
        for (int i = 0; i < layout.domains(); i++) {
            int next = (domain + i) % layout.domains();
            if (sleepingIn[next] > 0) {
                if (anythingWaits()) {
                    wakeFirst(next);
                }
                return;
            }
        }
    }

    private boolean anythingWaits() {
        return Arrays.stream(waitingIn).anyMatch(waiting -> waiting > 0);
    }

    // ---- Crossings.

    private long nanos() {
        return (long) clock.now();
    }

    /** Starts the watcher, or has it look earlier if it looks rarely because no worker could help. */
    private void lookSoon() {
        if (layout.domains() > 1 && (!watches || watchDue - clock.now() > crossings.shortLookNanos())) {
            watchAfter(wakeNanos);
        }
    }

    private void watchAfter(double nanos) {
        watches = true;
        watchDue = clock.now() + nanos;
        clock.watchAt(watchDue);
    }

    private void updateIfDue() {
        if (nanos() >= nextUpdate) {
            nextUpdate = nanos() + Crossings.AWAKE_LOOK_NANOS;
            updateAges();
        }
    }

    private void updateAges() {
        for (int domain = 0; scheduling.gate() == Gate.AGE && domain < layout.domains(); domain++) {
            long bound = crossings.boundNanos(domain);
            for (int i = 0; i < layout.workersIn(domain); i++) {
                int worker = layout.workerIn(domain, i);
                ages[worker] = ages[worker].next(taken[worker], put[worker], nanos(), bound);
            }
        }
    }

    /** Updates the ages of the queues, wakes helpers, and schedules its next call while tasks wait. */
    void watch() {
        updateAges();
        crossings.helpers(this::wakeFirst);
        long wait = crossings.nextLook();
        watches = wait != Long.MAX_VALUE;
        if (watches) {
            watchAfter((double) wait);
        }
    }

    boolean gateOpens(int thiefDomain, int victimDomain) {
        return crossings.mayTake(thiefDomain, victimDomain);
    }

    Crossings.Domains domains() {
        return domains;
    }

    /** The domains as the rule of crossings sees them. */
    private final class SeenDomains implements Crossings.Domains {
        @Override
        public int waiting(int domain) {
            return waitingIn[domain];
        }

        @Override
        public int idle(int domain) {
            return lookingIn[domain] + sleepingIn[domain];
        }

        @Override
        public long old(int domain) {
            long old = 0;
            for (int i = 0; i < layout.workersIn(domain); i++) {
                int worker = layout.workerIn(domain, i);
                old += ages[worker].old(taken[worker]);
            }
            return old;
        }

        @Override
        public CrossingCost cost(int domain) {
            return costs[domain];
        }
    }

    /** Records that a worker's task ended; the worker has not looked for the next one yet. */
    void ran(int worker, long nanos, long bytes) {
        int home = stolenFrom[worker];
        if (home == NOWHERE) {
            untilMeasure[worker]--;
            if (untilMeasure[worker] == 0) {
                untilMeasure[worker] = CrossingCost.TASKS_PER_MEASURE;
                int domain = layout.domainOf(worker);
                costs[domain] = costs[domain].atHome(nanos, bytes);
            }
        } else {
            costs[home] = costs[home].crossed(nanos, bytes);
        }
    }

    // ---- Choosing a worker's next task.

    /** The next task of a worker that ended a task or was woken; null if it goes to sleep. */
    @Nullable
    VirtualTask next(int worker) {
        stolenFrom[worker] = NOWHERE;
        boolean wasIdle = states[worker] != State.RUNNING;
        VirtualTask task = find(worker);
        while (task == null) {
            wasIdle = true;
            become(worker, State.SLEEPING);
            if (!mayTakeSomething(worker)) {
                if (scheduling.gated() && (watches || waitsElsewhere(layout.domainOf(worker)))) {
                    lookSoon();
                }
                return null;
            }
            become(worker, State.LOOKING);
            task = find(worker);
        }
        wasIdle |= states[worker] != State.RUNNING;
        become(worker, State.RUNNING);
        if (wasIdle) {
            wakeNext(worker);
        }
        int from = stolenFrom[worker];
        if (from != NOWHERE && crossings.wakesNext(layout.domainOf(worker), from)) {
            wakeAfter(worker);
        }
        return task;
    }

    private @Nullable VirtualTask find(int worker) {
        Stealing<VirtualTask> thief = stealing.get(worker);
        VirtualTask task = queues.get(worker).poll();
        if (task != null) {
            taken(worker);
            return task;
        }
        task = thief.interactive();
        if (task == null) {
            task = thief.batch();
        }
        if (task != null) {
            return task;
        }
        if (states[worker] != State.LOOKING) {
            become(worker, State.LOOKING);
        }
        updateIfDue();
        task = thief.gated();
        if (task == null) {
            task = fromAnyNear(worker);
        }
        return task == null ? thief.gatedAnywhere() : task;
    }

    /** Looks at all workers that may be stolen from at any time, before the worker sleeps. */
    private @Nullable VirtualTask fromAnyNear(int worker) {
        StealOrder order = stealOrders[worker];
        for (int i = 0; i < order.victims(); i++) {
            if (!queues.get(order.victim(i)).isEmpty()) {
                return others.get(worker).take(order.victim(i), false);
            }
        }
        return null;
    }

    private void taken(int from) {
        taken[from]++;
        waitingIn[layout.domainOf(from)]--;
    }

    private boolean waitsElsewhere(int domain) {
        for (int other = 0; other < layout.domains(); other++) {
            if (other != domain && waitingIn[other] > 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the last look missed a task. Looks across domains are not checked: on virtual time they miss nothing. */
    private boolean mayTakeSomething(int worker) {
        if (!queues.get(worker).isEmpty()) {
            return true;
        }
        StealOrder order = stealOrders[worker];
        for (int i = 0; i < order.victims(); i++) {
            if (!queues.get(order.victim(i)).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    void resetCounts() {
        intraSteals = 0;
        crossSteals = 0;
    }

    long intraSteals() {
        return intraSteals;
    }

    long crossSteals() {
        return crossSteals;
    }

    /** The other workers, as a thief sees them. */
    private final class Others implements Stealing.Victims<VirtualTask> {
        private final int thief;

        Others(int thief) {
            this.thief = thief;
        }

        @Override
        public int waiting(int worker) {
            return queues.get(worker).size();
        }

        /** All tasks are interactive. */
        @Override
        public int waitingBatch(int worker) {
            return 0;
        }

        @Override
        public int crossing(int worker) {
            return scheduling.gate() == SchedulingPolicy.Gate.AGE
                    ? Math.toIntExact(ages[worker].old(taken[worker]))
                    : queues.get(worker).size();
        }

        @Override
        public boolean gateOpens(int domain) {
            return VirtualPool.this.gateOpens(layout.domainOf(thief), domain);
        }

        @Override
        public @Nullable VirtualTask take(int victim, boolean batch) {
            return takeFrom(victim);
        }

        @Override
        public @Nullable VirtualTask takeAcross(int victim) {
            return takeFrom(victim);
        }

        private @Nullable VirtualTask takeFrom(int victim) {
            VirtualTask task = queues.get(victim).poll();
            if (task == null) {
                return null;
            }
            taken(victim);
            int from = layout.domainOf(victim);
            if (from == layout.domainOf(thief)) {
                intraSteals++;
            } else {
                crossSteals++;
                stolenFrom[thief] = from;
            }
            return task;
        }
    }
}
