package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * Points between "taken from a queue" and "answered" at which memory or stack could run out. Tests have an error thrown at
 * any one of them; otherwise they are nothing: the switch is a constant of the JVM.
 */
final class Faults {
    /** Whether tests may throw here. */
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

    /** Has something run, and perhaps thrown, at every point; null for nothing. */
    static void at(@Nullable Runnable fault) {
        thrower = fault;
    }
}
