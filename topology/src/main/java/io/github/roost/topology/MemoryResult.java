package io.github.roost.topology;

/**
 * What became of a request about a segment's memory.
 *
 * @param done whether the kernel accepted it
 * @param reason why not, empty when it did
 */
public record MemoryResult(boolean done, String reason) {
    static MemoryResult accepted() {
        return new MemoryResult(true, "");
    }

    static MemoryResult refused(String reason) {
        return new MemoryResult(false, reason);
    }
}
