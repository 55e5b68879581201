package io.github.roost.table;

import static io.github.roost.table.Schema.INT;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The rows of a version, off-heap, in chunks of which none is moved: a row's length, its bytes, and what is left to the next multiple of 8.
 * A row is in one chunk. Its place, in units of 8 bytes over all chunks, is the payload of its key.
 *
 * <p>One thread appends, any number read. A row is written before its place is given to the index, which publishes it with release;
 * who found the place there reads {@link #chunks} afterwards, and so sees the row and its chunk. No row is changed or moved.
 */
final class Values implements AutoCloseable {
    /** Bytes of a chunk: some huge pages, and so many rows that what is left at its end is little. */
    static final int CHUNK_BYTES = 1 << 24;

    private static final int CHUNK_SHIFT = 24;
    static final int UNIT_SHIFT = 3;
    /** A chunk from this size on asks for huge pages. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** The first chunk of a table that grows: small tables are many. */
    private static final int FIRST_BYTES = 1 << 16;

    /** Allocates chunks. */
    @FunctionalInterface
    interface Memory {
        MemorySegment allocate(long bytes, Arena arena);
    }

    private final Memory memory;
    private final Arena arena = Arena.ofShared();
    private MemorySegment[] chunks = {};
    /** Bytes in use, gaps at the ends of chunks among them. */
    private long used;

    private Values(Memory memory) {
        this.memory = memory;
    }

    /** Memory to append to. */
    static Values empty() {
        return new Values(Values::allocate);
    }

    /** For tests of what fails. */
    static Values empty(Memory memory) {
        return new Values(memory);
    }

    /**
     * Memory that is filled from a file, and can be appended to.
     *
     * @throws OutOfMemoryError if there is not that much; nothing is left behind
     */
    static Values ofBytes(long bytes) {
        return ofBytes(bytes, Values::allocate);
    }

    /** For tests of what fails. */
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
        return bytes < HUGE_FROM_BYTES
                ? arena.allocate(bytes, Long.BYTES)
                : DomainMemory.allocate(bytes, arena).segment();
    }

    /** Bytes in use. */
    long bytes() {
        return used;
    }

    /** What is in use, chunk by chunk: after a place was found, {@link #chunk} and {@link #offset} lead into it. */
    MemorySegment[] chunks() {
        return chunks;
    }

    static int chunk(long place) {
        return (int) (place >>> (CHUNK_SHIFT - UNIT_SHIFT));
    }

    static long offset(long place) {
        return place << UNIT_SHIFT & CHUNK_BYTES - 1;
    }

    /** Where the bytes of a chunk that are in use end. */
    long usedOf(int chunk) {
        return Math.min(chunks[chunk].byteSize(), used - ((long) chunk << CHUNK_SHIFT));
    }

    /** Bytes that a row takes. */
    static long taken(long rowBytes) {
        return Integer.BYTES + rowBytes + Long.BYTES - 1 & -Long.BYTES;
    }

    /**
     * Adds a row.
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

    /** A chunk that has room, which is a new and larger one with the same rows where it was too small. */
    private MemorySegment roomIn(int chunk, long offset, long bytes) {
        if (chunk < chunks.length && offset + bytes <= chunks[chunk].byteSize()) {
            return chunks[chunk];
        }
        // Readers may be in the old one, which stays until all are closed: half as much at most, of one chunk only.
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
