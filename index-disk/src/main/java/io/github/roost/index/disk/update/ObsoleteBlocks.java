package io.github.roost.index.disk.update;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that only earlier checkpoints have. They are free when no reader keeps such a checkpoint: a reader first keeps the newest one and then
 * looks whether it still is, and blocks are added after a newer one is durable; so a reader that is not seen here will not use them. Used by one thread at a
 * time, but {@link #count} by any.
 */
final class ObsoleteBlocks {
    /** Asks whether a reader keeps a checkpoint. */
    @FunctionalInterface
    interface Readers {
        /** Whether one keeps a checkpoint up to {@code last}. */
        boolean keep(long last) throws IOException;
    }

    private record Batch(long last, BitSet blocks) {}

    private final Readers readers;
    private final Deque<Batch> batches = new ArrayDeque<>();
    private volatile long count;

    ObsoleteBlocks(Readers readers) {
        this.readers = readers;
    }

    /**
     * Adds blocks.
     *
     * @param last the last checkpoint that has some of them, not before that of an earlier call
     */
    void add(long last, BitSet blocks) {
        batches.add(new Batch(last, blocks));
        changeCount(blocks.cardinality());
    }

    /** Gives what no reader has to {@code free}. */
    void give(FreeBlocks free) throws IOException {
        @Nullable Batch first = batches.peek();
        while (first != null && !readers.keep(first.last())) {
            first.blocks().stream().forEach(free::give);
            changeCount(-first.blocks().cardinality());
            batches.remove();
            first = batches.peek();
        }
    }

    private void changeCount(int more) {
        // One thread at a time writes.
        long now = count + more;
        count = now;
    }

    /** The number of blocks. */
    long count() {
        return count;
    }
}
