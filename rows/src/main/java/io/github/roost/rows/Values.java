package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;

import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The rows of a version, off-heap, in chunks. A row is stored as its length, its bytes, and padding to a multiple of 8, and never spans two chunks.
 * Its place, in units of 8 bytes over all chunks, is the payload of its key.
 *
 * <p>One thread appends, any number read. A row is written before the index publishes its place with release; a reader that found the place loads
 * {@link #chunks} afterwards, and so sees the row and its chunk. The bytes of a row at its place never change.
 */
final class Values implements AutoCloseable {
    /** Bytes of a chunk: a few huge pages, and so large that the unused rest at its end is small. */
    static final int CHUNK_BYTES = 1 << 24;

    private static final int CHUNK_SHIFT = 24;
    static final int UNIT_SHIFT = 3;
    /** A chunk of at least this size requests huge pages. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** The initial size of the first chunk; it grows by doubling, so that small tables take little memory. */
    private static final int FIRST_BYTES = 1 << 16;

    /** Allocates chunks. */
    @FunctionalInterface
    interface Memory {
        MemorySegment allocate(long bytes, Arena arena);
    }

    private final Memory memory;
    private final Arena arena = Arena.ofShared();
    private MemorySegment[] chunks = {};
    /** Bytes in use, including gaps at the ends of chunks. */
    private long used;

    private Values(Memory memory) {
        this.memory = memory;
    }

    /** Empty values to append to. */
    static Values empty() {
        return new Values(Values::allocate);
    }

    /** For tests of allocation failures. */
    static Values empty(Memory memory) {
        return new Values(memory);
    }

    /**
     * Memory to be filled from a file; rows can be appended.
     *
     * @throws OutOfMemoryError if there is not enough memory; nothing leaks
     */
    static Values ofBytes(long bytes) {
        return ofBytes(bytes, Values::allocate);
    }

    /** For tests of allocation failures. */
    static Values ofBytes(long bytes, Memory memory) {
        Values values = new Values(memory);
        boolean done = false;
        try {
            int count = (int) ((bytes + CHUNK_BYTES - 1) >>> CHUNK_SHIFT);
            values.chunks = new MemorySegment[count];
            for (int i = 0; i < count; i++) {
                long left = bytes - ((long) i << CHUNK_SHIFT);
                values.chunks[i] = memory.allocate(Math.min(CHUNK_BYTES, left), values.arena);
            }
            values.used = bytes;
            done = true;
            return values;
        } finally {
            if (!done) {
                values.close();
            }
        }
    }

    static MemorySegment allocate(long bytes, Arena arena) {
        return bytes < HUGE_FROM_BYTES ? arena.allocate(bytes, Long.BYTES) : DomainMemory.allocate(bytes, arena);
    }

    /** Bytes in use. */
    long bytes() {
        return used;
    }

    /** The chunks. To be loaded after a place was found; {@link #chunk} and {@link #offset} give its position in them. */
    MemorySegment[] chunks() {
        return chunks;
    }

    static int chunk(long place) {
        return (int) (place >>> (CHUNK_SHIFT - UNIT_SHIFT));
    }

    static long offset(long place) {
        return place << UNIT_SHIFT & CHUNK_BYTES - 1;
    }

    /** The number of bytes in use in a chunk. */
    long usedOf(int chunk) {
        return Math.min(chunks[chunk].byteSize(), used - ((long) chunk << CHUNK_SHIFT));
    }

    /** The bytes that a row takes, with length and padding. */
    static long taken(long rowBytes) {
        return Integer.BYTES + rowBytes + Long.BYTES - 1 & -Long.BYTES;
    }

    /**
     * Appends a row.
     *
     * @return its place
     * @throws OutOfMemoryError if there is no memory for another chunk; nothing has changed
     */
    long append(MemorySegment from, long at, long bytes) {
        long begin = used;
        if ((begin & CHUNK_BYTES - 1) + taken(bytes) > CHUNK_BYTES) {
            begin = begin + CHUNK_BYTES - 1 & -CHUNK_BYTES;
        }
        int chunk = (int) (begin >>> CHUNK_SHIFT);
        long offset = begin & CHUNK_BYTES - 1;
        MemorySegment in = roomIn(chunk, offset, taken(bytes));
        in.set(INT, offset, (int) bytes);
        MemorySegment.copy(from, at, in, offset + Integer.BYTES, bytes);
        used = begin + taken(bytes);
        return begin >>> UNIT_SHIFT;
    }

    /** The chunk, with room for a row; if it was too small, a larger copy of it. */
    private MemorySegment roomIn(int chunk, long offset, long bytes) {
        if (chunk < chunks.length && offset + bytes <= chunks[chunk].byteSize()) {
            return chunks[chunk];
        }
        // Readers may still use the old chunk, so it is kept until close. Only a chunk smaller than CHUNK_BYTES is
        // replaced.
        long size = chunk == 0
                ? Math.min(CHUNK_BYTES, Math.max(FIRST_BYTES, 2 * Long.highestOneBit(offset + bytes)))
                : CHUNK_BYTES;
        MemorySegment larger = memory.allocate(size, arena);
        MemorySegment[] more = Arrays.copyOf(chunks, Math.max(chunks.length, chunk + 1));
        if (chunk < chunks.length) {
            MemorySegment.copy(chunks[chunk], 0, larger, 0, offset);
        }
        more[chunk] = larger;
        chunks = more;
        return larger;
    }

    @Override
    public void close() {
        arena.close();
    }
}
