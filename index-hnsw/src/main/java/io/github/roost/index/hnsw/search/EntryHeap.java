package io.github.roost.index.hnsw.search;

import java.util.Arrays;

/** Min-heap of entries. Used by one thread. */
final class EntryHeap {
    private long[] entries = new long[64];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    long peek() {
        return entries[0];
    }

    void push(long entry) {
        if (size == entries.length) {
            entries = Arrays.copyOf(entries, 2 * size);
        }
        int at = size++;
        while (at > 0 && entries[(at - 1) / 2] > entry) {
            entries[at] = entries[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        entries[at] = entry;
    }

    long pop() {
        long smallest = entries[0];
        long last = entries[--size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && entries[child + 1] < entries[child]) {
                child++;
            }
            if (entries[child] >= last) {
                break;
            }
            entries[at] = entries[child];
            at = child;
        }
        entries[at] = last;
        return smallest;
    }
}
