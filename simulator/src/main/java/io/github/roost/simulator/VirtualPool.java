package io.github.roost.simulator;

import io.github.roost.core.dispatch.Backlog;
import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.dispatch.WakePolicy;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
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
 * stealing, backlogs, gate and wake policy decide; this class has only the rings, the sleeping workers, and the points at which workers are woken.
 * These points are the same as in the pool, up to each draw of a random number: a test runs both on the same traces and compares every step. Not
 * thread-safe.
 */
final class VirtualPool {
    private static final int NOWHERE = -1;

    /** Receives the pool's timers. */
    interface Clock {
        double now();

        /** Calls {@link #next} for a worker at a time. */
        void wakeAt(double time, int worker);

        /** Calls {@link #watch} at a time. */
        void watchAt(double time);
    }

    private final WorkerLayout layout;
    private final SchedulingPolicy scheduling;
    private final CrossDomainGate gate;
    private final Clock clock;
    private final double wakeNanos;
    private final Dispatcher dispatcher;
    private final LoadView loads = new Loads();
    private final SplittableRandom random;
    private final WakePolicy.Domains domains = new SeenDomains();
    private final WakePolicy wakes;
    private final List<Queue<VirtualTask>> rings = new ArrayList<>();
    private final List<Stealing<VirtualTask>> stealing = new ArrayList<>();
    private final StealOrder[] stealOrders;
    private final boolean[] running;
    /** Found nothing to run; may have been woken and not looked yet. */
    private final boolean[] idle;
    /** Asleep, and not woken. */
    private final boolean[] sleeps;
    /** Asleep, or woken and not up yet. */
    private final boolean[] down;
    /** The domain from which a worker's current task was stolen, if it is not its own; else {@link #NOWHERE}. */
    private final int[] stolenFrom;

    private final int[] idleInShard;
    /** When the number of idle workers of a shard last rose from 0. */
    private final long[] idleSince;

    private final int[] downIn;
    private final int[] crossingsIn;
    private final int[] waitingIn;
    private final Backlog[] backlogs;
    private final CrossingCost[] crossings;
    /** Per worker the number of tasks at home until the next measurement. */
    private final int[] untilMeasure;

    private boolean watches;
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
        this.gate = gate;
        this.clock = clock;
        this.wakeNanos = wakeNanos;
        this.dispatcher = Dispatcher.of(scheduling, layout);
        this.random = new SplittableRandom(seed);
        this.wakes = new WakePolicy(layout, scheduling, gate, domains);
        int workers = layout.workers();
        this.stealOrders = new StealOrder[workers];
        this.running = new boolean[workers];
        this.idle = new boolean[workers];
        this.sleeps = new boolean[workers];
        this.down = new boolean[workers];
        this.stolenFrom = new int[workers];
        this.idleInShard = new int[layout.shards()];
        this.idleSince = new long[layout.shards()];
        this.crossingsIn = new int[layout.domains()];
        this.waitingIn = new int[layout.domains()];
        this.downIn = new int[layout.shards()];
        this.backlogs = new Backlog[layout.domains()];
        Arrays.fill(backlogs, Backlog.NONE);
        this.crossings = new CrossingCost[layout.domains()];
        Arrays.fill(crossings, CrossingCost.UNKNOWN);
        this.untilMeasure = new int[workers];
        Arrays.fill(untilMeasure, CrossingCost.TASKS_PER_MEASURE);
        for (int worker = 0; worker < workers; worker++) {
            stealOrders[worker] = StealOrder.of(scheduling, layout, worker);
            rings.add(new ArrayDeque<>());
            stealing.add(new Stealing<>(layout, stealOrders[worker], new Others(worker), random::nextInt));
            stolenFrom[worker] = NOWHERE;
            idleBegins(worker);
            lieDown(worker);
        }
    }

    /** Puts a task into the ring of the worker that the dispatcher chooses, and wakes a worker that may run it. */
    void submit(VirtualTask task, Mapping mapping) {
        long ticket = scheduling.usesHomes() ? random.nextLong() : roundRobin++;
        int target = dispatcher.worker(task.slot, mapping, loads, ticket);
        rings.get(target).add(task);
        waitingIn[layout.domainOf(target)]++;
        if (sleeps[target]) {
            wake(target);
        } else if (mayNeedHelp(target) && running[target]) {
            wakeHelper(target);
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
            int shard = layout.shardOf(worker);
            for (int i = 0; i < layout.workersInShard(shard); i++) {
                if (sleeps[layout.workerInShard(shard, i)]) {
                    return false;
                }
            }
            return true;
        }
    }

    int load(int worker) {
        return rings.get(worker).size() + (running[worker] ? 1 : 0);
    }

    private int idleIn(int domain) {
        int idle = 0;
        for (int i = 0; i < layout.shardsIn(domain); i++) {
            idle += idleInShard[layout.shardIn(domain, i)];
        }
        return idle;
    }

    /** Whether any domain has more idle workers than waiting tasks. */
    boolean anyFree() {
        for (int domain = 0; domain < layout.domains(); domain++) {
            if (idleIn(domain) > waitingIn[domain]) {
                return true;
            }
        }
        return false;
    }

    // ---- Waking.

    private boolean wake(int worker) {
        if (!sleeps[worker]) {
            return false;
        }
        sleeps[worker] = false;
        clock.wakeAt(clock.now() + wakeNanos, worker);
        return true;
    }

    /** The pool may wake the worker of the caller's core in place of the target; this class never does, so it has no overlooked workers to wake. */
    private void wakeFor(int busy) {
        if (mayNeedHelp(busy) && !rings.get(busy).isEmpty()) {
            wakeHelper(busy);
        }
    }

    private boolean mayNeedHelp(int target) {
        return layout.domains() > 1
                || layout.shardsIn(layout.domainOf(target)) > 1
                || downIn[layout.shardOf(target)] > 0;
    }

    private void wakeHelper(int target) {
        Reach reach = scheduling.reach();
        if (reach == Reach.WORKER || wakeNear(target)) {
            return;
        }
        int domain = layout.domainOf(target);
        if (reach == Reach.MACHINE || !scheduling.gated()) {
            for (int i = 1; i < layout.domains(); i++) {
                if (wakeOneOf((domain + i) % layout.domains())) {
                    return;
                }
            }
        } else if (layout.domains() > 1) {
            if (rings.get(target).size() >= gate.backlogPerWorker()) {
                noteBacklog(domain);
            }
            int helper = wakes.helperOf(domain);
            if (helper >= 0) {
                wakeOneOf(helper);
            }
        }
    }

    private boolean wakeNear(int target) {
        int domain = layout.domainOf(target);
        return wakeOneOfShard(layout.shardOf(target)) || (layout.shardsIn(domain) > 1 && wakeOneOf(domain));
    }

    private boolean wakeOneOf(int domain) {
        int shards = layout.shardsIn(domain);
        int start = shards == 1 ? 0 : random.nextInt(shards);
        for (int i = 0; i < shards; i++) {
            if (wakeOneOfShard(layout.shardIn(domain, (start + i) % shards))) {
                return true;
            }
        }
        return false;
    }

    private boolean wakeOneOfShard(int shard) {
        if (downIn[shard] == 0) {
            return false;
        }
        int count = layout.workersInShard(shard);
        int start = random.nextInt(count);
        for (int i = 0; i < count; i++) {
            if (wake(layout.workerInShard(shard, (start + i) % count))) {
                return true;
            }
        }
        return false;
    }

    // ---- Backlogs.

    private long nanos() {
        return (long) clock.now();
    }

    private void noteBacklog(int domain) {
        if (!backlogs[domain].exists()) {
            refreshBacklog(domain);
            if (backlogs[domain].exists() && !watches) {
                watches = true;
                clock.watchAt(clock.now() + wakeNanos);
            }
        }
    }

    private void refreshBacklog(int domain) {
        backlogs[domain] =
                backlogs[domain].next(gate, waitingIn[domain], layout.workersIn(domain), idleIn(domain), nanos());
    }

    /** Wakes helpers, and schedules its next call while there is a backlog. */
    void watch() {
        for (int domain = 0; domain < layout.domains(); domain++) {
            if (backlogs[domain].exists()) {
                refreshBacklog(domain);
            }
        }
        wakes.helpers(nanos(), this::wakeOneOf);
        long wait = wakes.nextLook(nanos());
        watches = wait != Long.MAX_VALUE;
        if (watches) {
            clock.watchAt(clock.now() + wait);
        }
    }

    private void taken(int from) {
        int domain = layout.domainOf(from);
        waitingIn[domain]--;
        if (layout.domains() > 1 && backlogs[domain].exists()) {
            backlogs[domain] = backlogs[domain].taken();
            if (rings.get(from).size() < gate.backlogPerWorker()) {
                refreshBacklog(domain);
            }
        }
    }

    boolean gateOpens(int thiefDomain, int victimDomain) {
        return wakes.opens(thiefDomain, victimDomain, nanos());
    }

    WakePolicy.Domains domains() {
        return domains;
    }

    /** The domains as the policy sees them. */
    private final class SeenDomains implements WakePolicy.Domains {
        @Override
        public int waiting(int domain) {
            return waitingIn[domain];
        }

        @Override
        public int idle(int domain) {
            return idleIn(domain);
        }

        @Override
        public int crossings(int domain) {
            return crossingsIn[domain];
        }

        @Override
        public long idleNanos(int domain) {
            long nanos = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                int shard = layout.shardIn(domain, i);
                nanos = Math.max(nanos, idleInShard[shard] == 0 ? 0 : nanos() - idleSince[shard]);
            }
            return nanos;
        }

        @Override
        public Backlog backlog(int domain) {
            return backlogs[domain];
        }

        @Override
        public CrossingCost crossing(int domain) {
            return crossings[domain];
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
                crossings[domain] = crossings[domain].atHome(nanos, bytes, CrossingCost.TASKS_PER_MEASURE);
            }
        } else {
            crossings[home] = crossings[home].crossed(nanos, bytes);
        }
    }

    // ---- Choosing a worker's next task.

    /** The next task of a worker that ended a task or was woken; null if it goes to sleep. */
    @Nullable
    VirtualTask next(int worker) {
        running[worker] = false;
        int domain = layout.domainOf(worker);
        if (stolenFrom[worker] != NOWHERE) {
            stolenFrom[worker] = NOWHERE;
            crossingsIn[domain]--;
        }
        if (down[worker]) {
            getUp(worker);
        }
        VirtualTask task = find(worker);
        while (task == null) {
            lieDown(worker);
            if (!mayTakeSomething(worker)) {
                return null;
            }
            getUp(worker);
            task = find(worker);
        }
        if (idle[worker]) {
            idle[worker] = false;
            idleInShard[layout.shardOf(worker)]--;
        }
        running[worker] = true;
        wakeFor(worker);
        if (stolenFrom[worker] != NOWHERE && wakes.afterSteal(domain, stolenFrom[worker], nanos())) {
            wakeOneOf(domain);
        }
        return task;
    }

    private @Nullable VirtualTask find(int worker) {
        VirtualTask task = rings.get(worker).poll();
        if (task != null) {
            taken(worker);
            return task;
        }
        task = stealing.get(worker).ungated();
        if (task != null) {
            return task;
        }
        if (!idle[worker]) {
            idleBegins(worker);
        }
        task = stealing.get(worker).gated();
        return task == null ? stealing.get(worker).gatedAnywhere() : task;
    }

    private void idleBegins(int worker) {
        idle[worker] = true;
        int shard = layout.shardOf(worker);
        if (idleInShard[shard] == 0) {
            idleSince[shard] = nanos();
        }
        idleInShard[shard]++;
    }

    private void lieDown(int worker) {
        sleeps[worker] = true;
        down[worker] = true;
        downIn[layout.shardOf(worker)]++;
    }

    private void getUp(int worker) {
        sleeps[worker] = false;
        down[worker] = false;
        downIn[layout.shardOf(worker)]--;
    }

    /** Whether the last look missed a task. Looks across domains are not checked: on virtual time they miss nothing. */
    private boolean mayTakeSomething(int worker) {
        if (!rings.get(worker).isEmpty()) {
            return true;
        }
        StealOrder order = stealOrders[worker];
        for (int level = 0; level < order.levels(); level++) {
            for (int i = 0; i < order.victims(level); i++) {
                if (!rings.get(order.victim(level, i)).isEmpty()) {
                    return true;
                }
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
            return rings.get(worker).size();
        }

        @Override
        public int waitingIn(int domain) {
            return waitingIn[domain];
        }

        @Override
        public boolean gateOpens(int domain) {
            return VirtualPool.this.gateOpens(layout.domainOf(thief), domain);
        }

        @Override
        public @Nullable VirtualTask take(int victim) {
            VirtualTask task = rings.get(victim).poll();
            if (task == null) {
                return null;
            }
            taken(victim);
            int domain = layout.domainOf(thief);
            int from = layout.domainOf(victim);
            if (from == domain) {
                intraSteals++;
            } else {
                crossSteals++;
                stolenFrom[thief] = from;
                crossingsIn[domain]++;
            }
            return task;
        }
    }
}
