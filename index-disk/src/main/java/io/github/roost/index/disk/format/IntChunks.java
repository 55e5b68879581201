package io.github.roost.index.disk.format;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Ints by number, 0 until they are set. In chunks, of which only those exist that have an int: to grow takes one chunk, and now and then a longer
 * list of chunks, but never a copy of the ints, which would be a long step of an update. One thread at a time writes, any number read.
 */
final class IntChunks {
    private static final int CHUNK = 2_048;

    private volatile @Nullable AtomicIntegerArray[] chunks = new AtomicIntegerArray[0];

    int get(int number) {
        @Nullable AtomicIntegerArray[] all = chunks;
        AtomicIntegerArray chunk = number / CHUNK < all.length ? all[number / CHUNK] : null;
        return chunk == null ? 0 : chunk.get(number % CHUNK);
    }

    void set(int number, int value) {
        @Nullable AtomicIntegerArray[] all = chunks;
        int index = number / CHUNK;
        AtomicIntegerArray chunk = index < all.length ? all[index] : null;
        if (chunk == null) {
            if (index >= all.length) {
                all = Arrays.copyOf(all, index + 1 + index / 4);
            }
            chunk = new AtomicIntegerArray(CHUNK);
            all[index] = chunk;
            chunks = all;
        }
        chunk.set(number % CHUNK, value);
    }
}
