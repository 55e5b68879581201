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

    /** How many it has. */
    int size() {
        return complements.size();
    }

    /** Moves the largest to where it stands in a list of all, the smallest first. */
    void moveLargestTo(MemorySegment list) {
        list.setAtIndex(GraphImage.LONG, complements.size() - 1L, ~complements.peek());
        complements.pop();
    }
}
