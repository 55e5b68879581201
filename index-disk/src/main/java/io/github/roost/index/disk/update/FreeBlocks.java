package io.github.roost.index.disk.update;

import java.util.BitSet;

/** Free blocks of a file; all blocks after its end are free. Used by one thread at a time. */
final class FreeBlocks {
    private final BitSet used;
    /** No block before this one is free, so that taking many looks at each block once. */
    private int begin;

    /** All blocks are free but the used ones. */
    FreeBlocks(BitSet used) {
        this.used = used;
    }

    /** Takes the first free block. */
    int take() {
        begin = take(1) + 1;
        return begin - 1;
    }

    /** Takes the first run of {@code count} free blocks; returns its first block. */
    int take(int count) {
        int first = used.nextClearBit(begin);
        int end = used.nextSetBit(first);
        while (end >= 0 && end - first < count) {
            first = used.nextClearBit(end);
            end = used.nextSetBit(first);
        }
        used.set(first, first + count);
        return first;
    }

    void give(int block) {
        used.clear(block);
        begin = Math.min(begin, block);
    }
}
