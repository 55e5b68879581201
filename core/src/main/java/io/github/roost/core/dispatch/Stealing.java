package io.github.roost.core.dispatch;

import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How a worker whose own rings are empty looks for a task of another's: Algorithm 2 of the paper (Huang et al., 2026),
 * with the gate that its text asks for. Near victims first; within a level from a random start round. It holds no task
 * and no clock: what waits where, and whether the gate is open, it asks its {@link Victims}. Owned by one worker.
 *
 * @param <T> what a task is
 */
public final class Stealing<T> {
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
         * Whether the cross-domain gate lets this thief take from a worker of another domain now.
         *
         * @param victim index of the worker
         * @return whether it may be taken from now
         */
        boolean gateOpens(int victim);

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
     * @param order whose rings the thief looks into, nearest first
     * @param victims the other workers
     * @param random for a bound of at least 1 a number from 0 to the bound exclusive
     */
    public Stealing(StealOrder order, Victims<T> victims, IntUnaryOperator random) {
        this.order = order;
        this.victims = victims;
        this.random = random;
    }

    /** {@return a task from one who may be stolen from at any time, or null} */
    public @Nullable T ungated() {
        int count = order.ungated();
        if (count == 0) {
            return null;
        }
        int start = random.applyAsInt(count);
        for (int i = 0; i < count; i++) {
            int victim = order.ungated((start + i) % count);
            T task = victims.waiting(victim) > 0 ? victims.take(victim) : null;
            if (task != null) {
                return task;
            }
        }
        return null;
    }

    /** {@return a task from behind the cross-domain gate, or null} */
    public @Nullable T gated() {
        for (int level = 0; level < order.gatedLevels(); level++) {
            int count = order.gated(level);
            int start = random.applyAsInt(count);
            for (int i = 0; i < count; i++) {
                int victim = order.gated(level, (start + i) % count);
                T task = victims.waiting(victim) > 0 && victims.gateOpens(victim) ? victims.take(victim) : null;
                if (task != null) {
                    return task;
                }
            }
        }
        return null;
    }
}
