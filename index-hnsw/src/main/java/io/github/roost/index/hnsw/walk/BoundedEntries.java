package io.github.roost.index.hnsw.walk;

import java.lang.foreign.MemorySegment;

/** The smallest of the entries that were offered, up to a number. Belongs to one thread. */
final class BoundedEntries {
    private final int capacity;
    /** Complements, so that the largest entry is taken first. */
    private final EntryHeap complements = new EntryHeap();

    BoundedEntries(int capacity) {
        this.capacity = capacity;
    }

    /** The largest entry kept, once the number is reached: nothing larger gets in. */
    long bound() {
        return complements.size() < capacity ? Long.MAX_VALUE : ~complements.peek();
    }

    void offer(long entry) {
        if (complements.size() < capacity) {
            complements.push(~entry);
        } else if (entry < bound()) {
            complements.pop();
            complements.push(~entry);
        }
    }

    /** Empties it into a segment, the smallest first; returns how many there were. */
    int writeTo(MemorySegment found) {
        int size = complements.size();
        for (int i = size - 1; i >= 0; i--) {
            found.setAtIndex(GraphImage.LONG, i, ~complements.pop());
        }
        return size;
    }
}
