package io.github.roost.neighborhash.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Looks up one key after the other in Java: the reference for the native lookups, and the fallback without them. */
final class JavaLookup implements BatchLookup {
    private final boolean isBesideWriter;

    /** @param isBesideWriter whether a writer may run concurrently; false is faster */
    JavaLookup(boolean isBesideWriter) {
        this.isBesideWriter = isBesideWriter;
    }

    @Override
    public String name() {
        return "java";
    }

    @Override
    public int find(Slots slots, MemorySegment keys, int count, MemorySegment payloads) {
        BatchLookup.requireFits(keys, count, payloads);
        int found = 0;
        for (int i = 0; i < count; i++) {
            long at = (long) i * Long.BYTES;
            long key = keys.get(JAVA_LONG_UNALIGNED, at);
            long payload = isBesideWriter ? slots.findBesideWriter(key) : slots.find(key);
            payloads.set(JAVA_LONG_UNALIGNED, at, payload);
            found += payload == Slots.ABSENT ? 0 : 1;
        }
        return found;
    }
}
