package io.github.roost.vector;

/** A table that keeps its rows, or part of them, in memory outside the Java heap, which can be limited. Thread-safe. */
public interface MemoryLimited {
    /** The {@link #memoryLimit()} of a table without a limit. */
    long NO_MEMORY_LIMIT = Long.MAX_VALUE;

    /**
     * Limits the off-heap memory of the rows, as counted by {@link VectorTable#bytes}. A change that would exceed the limit is refused; changes
     * that need no more memory still succeed. Scratch memory of searches does not count, and memory already used stays allocated. While a build or
     * merge runs, it takes up to the same amount in addition.
     *
     * @param bytes the limit, at least 1; no limit by default
     */
    void memoryLimit(long bytes);

    /** {@return the limit set by {@link #memoryLimit(long)}; {@link #NO_MEMORY_LIMIT} if there is none} */
    long memoryLimit();
}
