package io.github.roost.index.hnsw.search;

import java.lang.foreign.MemorySegment;

/** Bounded max-heap of the {@code capacity} smallest entries offered. Used by one thread. */
final class BoundedEntries {
    private final int capacity;
    /** Bitwise complements of the entries, so that the min-heap pops the largest entry first. */
    private final EntryHeap complements = new EntryHeap();

    BoundedEntries(int capacity) {
        this.capacity = capacity;
    }

    /** The largest entry if the heap is full: larger entries are rejected. {@link Long#MAX_VALUE} otherwise. */
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

    /** Number of entries. */
    int size() {
        return complements.size();
    }

    /** Moves the largest entry to its index in the ascending list of all entries. */
    void moveLargestTo(MemorySegment list) {
        list.setAtIndex(GraphImage.LONG, complements.size() - 1L, ~complements.peek());
        complements.pop();
    }
}
