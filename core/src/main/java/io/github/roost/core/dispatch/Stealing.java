package io.github.roost.core.dispatch;

import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The search of a worker whose own queues are empty for a task of another worker: Algorithm 2 of the paper (Huang et al., 2026),
 * the own domain first, with the gate that its text asks for. The thief looks at two victims drawn at random, workers or, behind
 * the gate, domains, and takes from the one with more waiting tasks (the power of two choices: Mitzenmacher, IEEE TPDS 12(10),
 * 2001), so the cost of a look does not grow with the machine. A look may miss the only waiting task; therefore a worker looks at
 * all victims before it sleeps. Holds no tasks and reads no clock: queue lengths and the state of the gate come from
 * {@link Victims}. Owned by one worker; not thread-safe.
 *
 * @param <T> the type of tasks
 */
public final class Stealing<T> {
    private final WorkerLayout layout;
    private final StealOrder order;
    private final Victims<T> victims;
    private final IntUnaryOperator random;
    /** The two workers of the current look; the same if there is only one. */
    private int one;

    private int other;

    /**
     * A thief's view of the other workers. Numbers may be slightly stale.
     *
     * @param <T> the type of tasks
     */
    public interface Victims<T> {
        /**
         * The number of interactive tasks that wait at a worker.
         *
         * @param worker index of the worker
         * @return at least 0
         */
        int waiting(int worker);

        /**
         * The number of batch tasks that wait at a worker.
         *
         * @param worker index of the worker
         * @return at least 0
         */
        int waitingBatch(int worker);

        /**
         * The number of tasks at a worker of another domain that may cross to this thief now.
         *
         * @param worker index of the worker
         * @return at least 0
         */
        int crossing(int worker);

        /**
         * Whether the cross-domain gate lets this thief take from another domain now.
         *
         * @param domain index of the victim domain
         * @return whether the gate is open
         */
        boolean gateOpens(int domain);

        /**
         * Takes a task that waits at a worker that may be stolen from at any time.
         *
         * @param victim index of the worker
         * @param batch true for a batch task, false for an interactive one
         * @return the task, or null if none is left
         */
        @Nullable
        T take(int victim, boolean batch);

        /**
         * Takes a task that waits at a worker of another domain and may cross.
         *
         * @param victim index of the worker
         * @return the task, or null if none is left
         */
        @Nullable
        T takeAcross(int victim);
    }

    /**
     * Creates the search of one thief.
     *
     * @param layout all workers
     * @param order the order in which the thief looks at victims
     * @param victims the other workers
     * @param random returns, for a bound of at least 2, a random number from 0 to the bound exclusive
     */
    public Stealing(WorkerLayout layout, StealOrder order, Victims<T> victims, IntUnaryOperator random) {
        this.layout = layout;
        this.order = order;
        this.victims = victims;
        this.random = random;
    }

    /** A random number below {@code count}; draws none if there is no choice. */
    private int any(int count) {
        return count == 1 ? 0 : random.applyAsInt(count);
    }

    /** A random number below {@code count} that is not {@code taken}, unless there is no other. */
    private int another(int taken, int count) {
        return count == 1 ? taken : (taken + 1 + any(count - 1)) % count;
    }

    /**
     * Begins a look: draws two of the workers that may be stolen from at any time.
     *
     * @return an interactive task of theirs, or null if the look found none
     */
    public @Nullable T interactive() {
        int count = order.victims();
        if (count == 0) {
            return null;
        }
        int first = any(count);
        one = order.victim(first);
        other = order.victim(another(first, count));
        return one == other ? victims.take(one, false) : near(victims.waiting(one), victims.waiting(other), false);
    }

    /**
     * The second part of a look: the same two workers as in the call of {@link #interactive} before, which found nothing.
     *
     * @return a batch task of theirs, or null if the look found none
     */
    public @Nullable T batch() {
        if (order.victims() == 0) {
            return null;
        }
        return one == other
                ? victims.take(one, true)
                : near(victims.waitingBatch(one), victims.waitingBatch(other), true);
    }

    private @Nullable T near(int ofOne, int ofOther, boolean batch) {
        return ofOne == 0 && ofOther == 0 ? null : victims.take(ofOne >= ofOther ? one : other, batch);
    }

    /** {@return a task from a domain whose gate is open, or null if the look found none} */
    public @Nullable T gated() {
        for (int level = 0; level < order.gatedLevels(); level++) {
            int count = order.gated(level);
            int first = any(count);
            T task = fromFuller(order.gated(level, first), order.gated(level, another(first, count)));
            if (task != null) {
                return task;
            }
        }
        return null;
    }

    private @Nullable T fromFuller(int first, int second) {
        boolean fromFirst = victims.gateOpens(first);
        boolean fromSecond = first != second && victims.gateOpens(second);
        if (fromFirst && fromSecond) {
            return fromDomain(crossingIn(first) >= crossingIn(second) ? first : second);
        }
        return fromFirst ? fromDomain(first) : fromSecond ? fromDomain(second) : null;
    }

    private long crossingIn(int domain) {
        long sum = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            sum += victims.crossing(layout.workerIn(domain, i));
        }
        return sum;
    }

    /** {@return a task from any domain whose gate is open, or null if there is none; a worker calls this before it sleeps} */
    public @Nullable T gatedAnywhere() {
        for (int level = 0; level < order.gatedLevels(); level++) {
            int count = order.gated(level);
            int start = any(count);
            for (int i = 0; i < count; i++) {
                int domain = order.gated(level, (start + i) % count);
                T task = victims.gateOpens(domain) ? fromDomain(domain) : null;
                if (task != null) {
                    return task;
                }
            }
        }
        return null;
    }

    /** Takes from the fuller of two workers of a domain; if neither has a task, from the next worker that has one. */
    private @Nullable T fromDomain(int domain) {
        int count = layout.workersIn(domain);
        int start = any(count);
        int first = layout.workerIn(domain, start);
        int second = layout.workerIn(domain, (start + Math.max(1, count / 2)) % count);
        T task = across(victims.crossing(second) > victims.crossing(first) ? second : first);
        for (int i = 0; task == null && i < count; i++) {
            task = across(layout.workerIn(domain, (start + i) % count));
        }
        return task;
    }

    private @Nullable T across(int victim) {
        return victims.crossing(victim) > 0 ? victims.takeAcross(victim) : null;
    }
}
