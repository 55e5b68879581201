package io.github.roost.core.dispatch;

import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How a worker whose own rings are empty looks for a task of another's: Algorithm 2 of the paper (Huang et al., 2026), near
 * victims first, with the gate that its text asks for. Inside a level the thief looks at two victims drawn at random and
 * takes from the one with more waiting (the power of two choices: Mitzenmacher, IEEE TPDS 12(10), 2001), so that what a look
 * costs does not grow with the machine. A look may miss the only task there is: who is about to sleep looks at all. It holds
 * no task and no clock: what waits where, and whether the gate is open, it asks its {@link Victims}. Owned by one worker.
 *
 * @param <T> what a task is
 */
public final class Stealing<T> {
    private final WorkerLayout layout;
    private final StealOrder order;
    private final Victims<T> victims;
    private final IntUnaryOperator random;

    /**
     * What a thief may ask of the other workers.
     *
     * @param <T> what is stolen
     */
    public interface Victims<T> {
        /**
         * How many tasks wait in a worker's rings.
         *
         * @param worker index of a worker
         * @return at least 0; may be a moment old
         */
        int waiting(int worker);

        /**
         * Whether the cross-domain gate lets this thief take from another domain now.
         *
         * @param domain index of the victim domain
         * @return whether it may be taken from now
         */
        boolean gateOpens(int domain);

        /**
         * Takes the oldest task of a worker's rings.
         *
         * @param victim index of the worker
         * @return the task, or null where there is none left
         */
        @Nullable
        T take(int victim);
    }

    /**
     * The steals of one thief.
     *
     * @param layout all workers
     * @param order whose rings the thief looks into, nearest first
     * @param victims the other workers
     * @param random for a bound of at least 1 a number from 0 to the bound exclusive
     */
    public Stealing(WorkerLayout layout, StealOrder order, Victims<T> victims, IntUnaryOperator random) {
        this.layout = layout;
        this.order = order;
        this.victims = victims;
        this.random = random;
    }

    /** {@return a task from one who may be stolen from at any time, or null if the look found none} */
    public @Nullable T ungated() {
        for (int level = 0; level < order.levels(); level++) {
            int count = order.victims(level);
            int one = random.applyAsInt(count);
            int other = count == 1 ? one : (one + 1 + random.applyAsInt(count - 1)) % count;
            T task = fuller(order.victim(level, one), order.victim(level, other));
            if (task != null) {
                return task;
            }
        }
        return null;
    }

    private @Nullable T fuller(int one, int other) {
        int ofOne = victims.waiting(one);
        int ofOther = one == other ? 0 : victims.waiting(other);
        if (ofOne == 0 && ofOther == 0) {
            return null;
        }
        return victims.take(ofOne >= ofOther ? one : other);
    }

    /** {@return a task from behind the cross-domain gate, or null} */
    public @Nullable T gated() {
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

    /** From the fuller of two of its workers; where both have none, from the next that has some. */
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
