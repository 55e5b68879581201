package io.github.roost.neighborhash.kernel;

import java.lang.foreign.MemorySegment;

/** Looks up many keys in one call, also concurrently with a writer of the slots. Thread-safe. */
public interface BatchLookup {
    /** The lookup's name: an instruction set's name, or {@code java}. */
    String name();

    /**
     * Finds the payloads of keys, {@link Slots#ABSENT} for absent keys.
     *
     * @param keys longs in the machine's byte order, of any alignment
     * @param count the number of keys, 0 or more
     * @param payloads room for as many longs, of any alignment; must not overlap the keys
     * @return the number of keys present
     * @throws IllegalArgumentException if a segment is too small or payloads cannot be written
     * @throws IllegalStateException if the slots or a segment are closed
     */
    int find(Slots slots, MemorySegment keys, int count, MemorySegment payloads);

    /** Checks the arguments of {@link #find}. */
    static void requireFits(MemorySegment keys, int count, MemorySegment payloads) {
        if (count < 0) {
            throw new IllegalArgumentException("n must be 0 or more, got " + count);
        }
        long bytes = (long) count * Long.BYTES;
        if (keys.byteSize() < bytes || payloads.byteSize() < bytes) {
            throw new IllegalArgumentException("keys and payloads must have " + bytes + " bytes for " + count
                    + " keys, got " + keys.byteSize() + " and " + payloads.byteSize());
        }
        if (payloads.isReadOnly()) {
            throw new IllegalArgumentException("payloads must be writable, got a read-only segment");
        }
        if (keys.asOverlappingSlice(payloads).isPresent()) {
            throw new IllegalArgumentException("keys and payloads must not overlap");
        }
    }
}
