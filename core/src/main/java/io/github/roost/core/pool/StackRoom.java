package io.github.roost.core.pool;

/**
 * Checks for remaining stack before a task is taken, so that the code that runs and settles the task does not itself run into a
 * StackOverflowError.
 */
final class StackRoom {
    /** Number of nested calls that must fit, each of some hundred bytes: several times the runner's own need. */
    private static final int CALLS = 200;

    private StackRoom() {}

    /** @throws StackOverflowError if little stack is left; then no task has been taken */
    static void require() {
        descend(CALLS, 1, 2, 3, 4, 5, 6, 7);
    }

    private static long descend(int calls, long a, long b, long c, long d, long e, long f, long g) {
        return calls == 0 ? a : descend(calls - 1, b + 1, c + a, d + b, e + c, f + d, g + e, a + f) + g;
    }
}
