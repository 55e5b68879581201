package io.github.roost.lucene.memory;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.store.IndexInput;
import org.jspecify.annotations.Nullable;

/**
 * Off-heap copies of the graphs of one open segment, of which its directory has no mapping in one piece. One thread copies, before others
 * search; closing is thread-safe. A search that runs meanwhile fails as in a mapping that is closed.
 */
public final class GraphCopies implements Closeable {
    private static final LongAdder OPEN_BYTES = new LongAdder();
    private static final int COPIED_AT_ONCE = 1 << 16;

    /** Null if there is no copy: most segments have none, and to close a shared arena stops all threads for a moment. */
    private @Nullable Arena arena;

    private long bytes;

    /** Creates no copy yet. */
    public GraphCopies() {}

    /** {@return the bytes of the copies of all open segments} */
    public static long openBytes() {
        return OPEN_BYTES.sum();
    }

    /** {@return the bytes of this segment's copies} */
    public long bytes() {
        return bytes;
    }

    /**
     * Copies a part of a file.
     *
     * @param file an open file
     * @param offset where the part begins
     * @param length at least 1
     * @param alignment alignment of the copy
     * @return the copy, accessible until this is closed
     * @throws IOException if the file cannot be read
     */
    public MemorySegment copy(IndexInput file, long offset, long length, long alignment) throws IOException {
        Arena into = arena == null ? Arena.ofShared() : arena;
        arena = into;
        MemorySegment copy = into.allocate(length, alignment);
        bytes += length;
        OPEN_BYTES.add(length);
        IndexInput input = file.slice("graph", offset, length);
        byte[] piece = new byte[COPIED_AT_ONCE];
        for (long at = 0; at < length; at += piece.length) {
            int count = (int) Math.min(piece.length, length - at);
            input.readBytes(piece, 0, count);
            MemorySegment.copy(MemorySegment.ofArray(piece), 0, copy, at, count);
        }
        return copy;
    }

    /** Frees the copies. Waits for calls of native code that read them, which take microseconds. */
    @Override
    public synchronized void close() {
        Arena open = arena;
        if (open == null || !open.scope().isAlive()) {
            return;
        }
        while (open.scope().isAlive()) {
            try {
                open.close();
            } catch (IllegalStateException inUse) {
                Thread.onSpinWait();
            }
        }
        OPEN_BYTES.add(-bytes);
    }
}
