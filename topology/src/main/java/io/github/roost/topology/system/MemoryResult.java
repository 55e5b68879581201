package io.github.roost.topology.system;

/**
 * The outcome of a request about a segment's memory.
 *
 * @param done whether the kernel accepted the request
 * @param reason why it was refused, empty if it was accepted
 */
public record MemoryResult(boolean done, String reason) {
    static MemoryResult accepted() {
        return new MemoryResult(true, "");
    }

    static MemoryResult refused(String reason) {
        return new MemoryResult(false, reason);
    }
}
