package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * Fault-injection points between "taken from a queue" and "answered", where memory or stack could run out. Tests throw errors
 * at any of them. Without the system property the points cost nothing: the switch is a JIT constant.
 */
final class Faults {
    /** Whether fault injection is enabled. */
    static final boolean ON = Boolean.getBoolean("io.github.roost.faults");

    private static volatile @Nullable Runnable thrower;

    private Faults() {}

    /** A point at which an allocation or a call may fail. */
    static void point() {
        if (ON) {
            Runnable now = thrower;
            if (now != null) {
                now.run();
            }
        }
    }

    /** Sets the action that runs at every point, and may throw; null for none. */
    static void at(@Nullable Runnable fault) {
        thrower = fault;
    }
}
