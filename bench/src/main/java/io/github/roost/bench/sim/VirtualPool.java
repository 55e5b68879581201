package io.github.roost.bench.sim;

import io.github.roost.core.dispatch.CrossDomainGate;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.HomeDomainDispatcher;
import io.github.roost.core.dispatch.RoundRobinDispatcher;
import io.github.roost.core.dispatch.SchedulingPolicy;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The worker pool of {@code core} on virtual time: its dispatchers, steal orders, stealing and gate decide; here are only
 * the rings, who sleeps, and when who is woken. Not thread-safe.
 */
final class VirtualPool {
    private static final double NEVER = -1;

    /** Is told what the pool wants to happen. */
    interface Clock {
        double now();

        /** Have a worker look around at a time. */
        void wakeAt(double time, int worker);
    }

    private final WorkerLayout layout;
    private final Clock clock;
    private final double wakeNanos;
    private final CrossDomainGate gate = CrossDomainGate.DEFAULT;
    private final boolean homes;
    private final Dispatcher dispatcher;
    private final SplittableRandom random;
    private final List<Queue<VirtualTask>> rings = new ArrayList<>();
    private final List<Stealing<VirtualTask>> stealing = new ArrayList<>();
    private final StealOrder[] stealOrders;
    private final boolean[] running;
    /** Found nothing to run; may have been woken and not looked yet. */
    private final boolean[] idle;

    private final boolean[] woken;
    private final int[] idleIn;
    private final int[] waitingIn;
    private final double[] backloggedSince;
    private long roundRobin;
    private long intraSteals;
    private long crossSteals;

    VirtualPool(WorkerLayout layout, SchedulingPolicy scheduling, Clock clock, double wakeNanos, long seed) {
        this.layout = layout;
        this.clock = clock;
        this.wakeNanos = wakeNanos;
        this.homes = scheduling == SchedulingPolicy.HOME_DOMAIN;
        this.dispatcher = homes ? new HomeDomainDispatcher(layout) : new RoundRobinDispatcher(layout);
        this.random = new SplittableRandom(seed);
        int workers = layout.workers();
        this.stealOrders = new StealOrder[workers];
        this.running = new boolean[workers];
        this.idle = new boolean[workers];
        this.woken = new boolean[workers];
        this.idleIn = new int[layout.domains()];
        this.waitingIn = new int[layout.domains()];
        this.backloggedSince = new double[layout.domains()];
        Arrays.fill(idle, true);
        Arrays.fill(backloggedSince, NEVER);
        for (int worker = 0; worker < workers; worker++) {
            stealOrders[worker] = switch (scheduling) {
                case V0 -> StealOrder.none();
                case V1 -> StealOrder.anywhere(layout, worker);
                case V2 -> StealOrder.nearestFirst(layout, worker);
            };
            rings.add(new ArrayDeque<>());
            stealing.add(new Stealing<>(stealOrders[worker], new Others(worker), random::nextInt));
            idleIn[layout.domainOf(worker)]++;
        }
    }

    /** Puts a task into the ring of the worker that the dispatcher chooses, and wakes one who may run it. */
    void submit(VirtualTask task, Mapping mapping) {
        long ticket = homes ? random.nextLong() : roundRobin++;
        int worker = dispatcher.worker(task.slot, mapping, this::load, ticket);
        rings.get(worker).add(task);
        int domain = layout.domainOf(worker);
        waitingIn[domain]++;
        if (isBacklogged(domain) && backloggedSince[domain] == NEVER) {
            backloggedSince[domain] = clock.now();
            wakeIdleDomains(domain);
        }
        wakeFor(worker);
    }

    private int load(int worker) {
        return rings.get(worker).size() + (running[worker] ? 1 : 0);
    }

    private boolean isBacklogged(int domain) {
        return gate.backlogged(waitingIn[domain], layout.workersIn(domain));
    }

    private void wakeFor(int worker) {
        if (sleeps(worker)) {
            wake(worker);
            return;
        }
        StealOrder helpers = stealOrders[worker];
        int start = helpers.ungated() == 0 ? 0 : random.nextInt(helpers.ungated());
        for (int i = 0; i < helpers.ungated(); i++) {
            int helper = helpers.ungated((start + i) % helpers.ungated());
            if (sleeps(helper)) {
                wake(helper);
                return;
            }
        }
    }

    private boolean sleeps(int worker) {
        return idle[worker] && !woken[worker];
    }

    private void wake(int worker) {
        woken[worker] = true;
        clock.wakeAt(clock.now() + wakeNanos, worker);
    }

    private void wakeIdleDomains(int backlogged) {
        if (!homes) {
            return;
        }
        for (int domain = 0; domain < layout.domains(); domain++) {
            int first = layout.workerIn(domain, 0);
            if (domain != backlogged && idleIn[domain] == layout.workersIn(domain)) {
                clock.wakeAt(clock.now() + gate.sustainedNanos(), first);
            }
        }
    }

    /** What a worker that has ended a task, or was woken, runs now; null where it goes to sleep. */
    @Nullable
    VirtualTask next(int worker) {
        running[worker] = false;
        woken[worker] = false;
        VirtualTask task = rings.get(worker).poll();
        if (task != null) {
            taken(worker);
        } else {
            task = stealing.get(worker).ungated();
        }
        int domain = layout.domainOf(worker);
        if (task == null) {
            if (!idle[worker]) {
                idle[worker] = true;
                idleIn[domain]++;
            }
            task = stealing.get(worker).gated();
        }
        if (task == null) {
            lookAgainWhenTheGateOpens(worker);
            return null;
        }
        if (idle[worker]) {
            idle[worker] = false;
            idleIn[domain]--;
        }
        running[worker] = true;
        return task;
    }

    private void lookAgainWhenTheGateOpens(int worker) {
        int domain = layout.domainOf(worker);
        if (!homes || idleIn[domain] < layout.workersIn(domain)) {
            return;
        }
        double oldest = Double.MAX_VALUE;
        for (int other = 0; other < layout.domains(); other++) {
            if (other != domain && backloggedSince[other] != NEVER) {
                oldest = Math.min(oldest, backloggedSince[other]);
            }
        }
        if (oldest < Double.MAX_VALUE) {
            clock.wakeAt(Math.max(clock.now() + wakeNanos, oldest + gate.sustainedNanos()), worker);
        }
    }

    private void taken(int worker) {
        int domain = layout.domainOf(worker);
        waitingIn[domain]--;
        if (!isBacklogged(domain)) {
            backloggedSince[domain] = NEVER;
        }
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
        public boolean gateOpens(int victim) {
            int domain = layout.domainOf(thief);
            int from = layout.domainOf(victim);
            double since = backloggedSince[from];
            return gate.opens(
                    idleIn[domain], layout.workersIn(domain), since == NEVER ? -1 : Math.round(clock.now() - since));
        }

        @Override
        public @Nullable VirtualTask take(int victim) {
            VirtualTask task = rings.get(victim).poll();
            if (task != null) {
                taken(victim);
                if (layout.domainOf(victim) == layout.domainOf(thief)) {
                    intraSteals++;
                } else {
                    crossSteals++;
                }
            }
            return task;
        }
    }
}
