package io.github.roost.core.dispatch;

import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The search of a worker whose own rings are empty for a task of another worker: Algorithm 2 of the paper (Huang et al., 2026),
 * near victims first, with the gate that its text asks for. Inside a level the thief looks at two victims drawn at random, workers
 * or, behind the gate, domains, and takes from the one with more waiting tasks (the power of two choices: Mitzenmacher, IEEE TPDS
 * 12(10), 2001), so the cost of a look does not grow with the machine. A look may miss the only waiting task; therefore a worker
 * looks at all victims before it sleeps. Holds no tasks and reads no clock: queue lengths and the state of the gate come from {@link Victims}. Owned by one
 * worker; not thread-safe.
 *
 * @param <T> the type of tasks
 */
public final class Stealing<T> {
    private final WorkerLayout layout;
    private final StealOrder order;
    private final Victims<T> victims;
    private final IntUnaryOperator random;

    /**
     * A thief's view of the other workers.
     *
     * @param <T> the type of tasks
     */
    public interface Victims<T> {
        /**
         * The number of tasks that wait at a worker.
         *
         * @param worker index of the worker
         * @return at least 0; may be slightly stale
         */
        int waiting(int worker);

        /**
         * The number of tasks that wait at the workers of a domain.
         *
         * @param domain index of the domain
         * @return at least 0; may be slightly stale
         */
        int waitingIn(int domain);

        /**
         * Whether the cross-domain gate lets this thief take from another domain now.
         *
         * @param domain index of the victim domain
         * @return whether the gate is open
         */
        boolean gateOpens(int domain);

        /**
         * Takes a task that waits at a worker.
         *
         * @param victim index of the worker
         * @return the task, or null if none is left
         */
        @Nullable
        T take(int victim);
    }

    /**
     * Creates the search of one thief.
     *
     * @param layout all workers
     * @param order the order in which the thief looks at victims, nearest first
     * @param victims the other workers
     * @param random returns, for a bound of at least 1, a random number from 0 to the bound exclusive
     */
    public Stealing(WorkerLayout layout, StealOrder order, Victims<T> victims, IntUnaryOperator random) {
        this.layout = layout;
        this.order = order;
        this.victims = victims;
        this.random = random;
    }

    /** {@return a task from a worker that may be stolen from at any time, or null if the look found none} */
    public @Nullable T ungated() {
        for (int level = 0; level < order.levels(); level++) {
            int count = order.victims(level);
            int one = random.applyAsInt(count);
            int other = another(one, count);
            T task = fuller(order.victim(level, one), order.victim(level, other));
            if (task != null) {
                return task;
            }
        }
        return null;
    }

    /** A random number below {@code count} that is not {@code one}, unless there is no other. */
    private int another(int one, int count) {
        return count == 1 ? one : (one + 1 + random.applyAsInt(count - 1)) % count;
    }

    private @Nullable T fuller(int one, int other) {
        int ofOne = victims.waiting(one);
        int ofOther = one == other ? 0 : victims.waiting(other);
        if (ofOne == 0 && ofOther == 0) {
            return null;
        }
        return victims.take(ofOne >= ofOther ? one : other);
    }

    /** {@return a task from a domain whose gate is open, or null if the look found none} */
    public @Nullable T gated() {
        for (int level = 0; level < order.gatedLevels(); level++) {
            int count = order.gated(level);
            int one = random.applyAsInt(count);
            int other = another(one, count);
            T task = fromFuller(order.gated(level, one), order.gated(level, other));
            if (task != null) {
                return task;
            }
        }
        return null;
    }

    private @Nullable T fromFuller(int one, int other) {
        boolean fromOne = victims.gateOpens(one);
        boolean fromOther = one != other && victims.gateOpens(other);
        if (fromOne && fromOther) {
            return fromDomain(victims.waitingIn(one) >= victims.waitingIn(other) ? one : other);
        }
        return fromOne ? fromDomain(one) : fromOther ? fromDomain(other) : null;
    }

    /** {@return a task from any domain whose gate is open, or null if there is none; a worker calls this before it sleeps} */
    public @Nullable T gatedAnywhere() {
        for (int level = 0; level < order.gatedLevels(); level++) {
            int count = order.gated(level);
            int start = random.applyAsInt(count);
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
        int start = random.applyAsInt(count);
        T task = fuller(
                layout.workerIn(domain, start), layout.workerIn(domain, (start + Math.max(1, count / 2)) % count));
        for (int i = 0; task == null && i < count; i++) {
            int victim = layout.workerIn(domain, (start + i) % count);
            task = victims.waiting(victim) > 0 ? victims.take(victim) : null;
        }
        return task;
    }
}
