package io.github.roost.core.pool;

/**
 * Finds out that the stack is about to end before a task is taken: what runs a task and sees to its end must not be struck by
 * the StackOverflowError itself.
 */
final class StackRoom {
    /** Calls that must fit, each of some hundred bytes: several times what the runner needs itself. */
    private static final int CALLS = 200;

    private StackRoom() {}

    /** @throws StackOverflowError if there is little room left; nothing has begun then */
    static void require() {
        descend(CALLS, 1, 2, 3, 4, 5, 6, 7);
    }

    private static long descend(int calls, long a, long b, long c, long d, long e, long f, long g) {
        return calls == 0 ? a : descend(calls - 1, b + 1, c + a, d + b, e + c, f + d, g + e, a + f) + g;
    }
}
