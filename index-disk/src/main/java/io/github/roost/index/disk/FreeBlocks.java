package io.github.roost.index.disk;

import java.util.BitSet;

/** Which blocks of a file nothing needs; behind its end all are free. One thread at a time. */
final class FreeBlocks {
    private final BitSet used;

    /** All but those that are used. */
    FreeBlocks(BitSet used) {
        this.used = used;
    }

    /** The free block that is nearest to the beginning. */
    int take() {
        return take(1);
    }

    /** The first of so many free blocks beside each other. */
    int take(int count) {
        int first = used.nextClearBit(0);
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
    }
}
