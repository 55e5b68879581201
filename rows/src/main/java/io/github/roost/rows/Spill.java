package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;

import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.file.PrivateFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows put into a version whose values do not fit into memory. They are stored in a second file, whose block numbers continue those of the version's
 * file: so a place identifies a row in either file, and the version's file stays as it was sealed. The second file has a hole where the version's
 * blocks would be. It is readable by its owner only, and deleted when the version is closed, or, if the process was killed, when the table is opened.
 *
 * <pre>
 * version's file    head, schema, keys, values
 * file of the spill                            [written: never changed] [tail: in memory, appended to]
 * </pre>
 *
 * <p>One thread appends, any number read. <b>Why a row that was put can be read at every moment.</b> It is appended to the tail, which is in memory,
 * before its place is published in the index with release. When the tail is full, all of its blocks are written, and only then a new tail is
 * published. A reader loads the tail after it found the place in the index, and so sees the row's tail or a later one. In the first case it copies
 * the row from that tail, which is on the heap and append-only. In the second case the row's blocks precede the tail: they were written before that
 * tail was published, and are never written again. So no reader reads a block that is being written.
 *
 * <p>A failed write changes nothing: the tail stays, with all its rows, and is written again when the next row is appended. No place leads to a
 * half-written block.
 */
final class Spill implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Spill.class);

    /** Blocks of a tail, written at once, unless a row needs more: 64 KiB. */
    static final int TAIL_BLOCKS = 16;

    /**
     * Rows that are not written to the file yet.
     *
     * @param firstBlock the number of the first block that they will be written to
     * @param content the content of these blocks, on the heap
     */
    record Tail(long firstBlock, MemorySegment content) {
        private int blocks() {
            return (int) (content.byteSize() / CheckedBlocks.CONTENT_BYTES);
        }

        private long end() {
            return firstBlock + blocks();
        }
    }

    private final BlockIo io;
    private final Path path;
    private final VersionFile.Head head;
    /** Written by the appending thread only, as are all fields. */
    private volatile Tail tail;

    private volatile @Nullable BlockFile file;
    private int used;

    Spill(BlockIo io, Path path, VersionFile.Head head) {
        this.io = io;
        this.path = path;
        this.head = head;
        this.tail = new Tail(head.blocks(), MemorySegment.ofArray(new byte[0]));
    }

    /** The rows that are still in memory. To be loaded after the index lookup. */
    Tail tail() {
        return tail;
    }

    /** The file, with the blocks before the tail. */
    BlockFile file() {
        BlockFile now = file;
        if (now == null) {
            throw new IllegalStateException("no rows were written to " + path);
        }
        return now;
    }

    Path path() {
        return path;
    }

    long memoryBytes() {
        return tail.content.byteSize();
    }

    /** Bytes written to the file. */
    long fileBytes() {
        return (tail.firstBlock - head.blocks()) * CheckedBlocks.BLOCK_BYTES;
    }

    /** The offset of a block's content in the tail, or a negative number for a block that is in a file. */
    static long inTail(Tail tail, long block) {
        return (block - tail.firstBlock) * CheckedBlocks.CONTENT_BYTES;
    }

    /**
     * Appends a row.
     *
     * @return its place
     * @throws IOException if the full tail cannot be written; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    long append(MemorySegment row) throws IOException {
        long taken = Values.taken(row.byteSize());
        if (used + taken > tail.content.byteSize()) {
            beginTail(taken, row.byteSize());
        }
        Tail into = tail;
        into.content.set(INT, used, (int) row.byteSize());
        MemorySegment.copy(row, 0, into.content, used + Integer.BYTES, row.byteSize());
        long unit = head.unit(into.firstBlock) + (used >> Values.UNIT_SHIFT);
        used += (int) taken;
        return Places.inFile(unit, head.longsBefore(), row.byteSize());
    }

    private void beginTail(long taken, long rowBytes) throws IOException {
        Tail before = tail;
        long first = used == 0 ? before.firstBlock : before.end();
        // A place rounds the number of blocks of a long row up; readers read that many, so the tail must have as many.
        int blocks = Places.blocks(Places.inFile(head.unit(first), head.longsBefore(), rowBytes));
        long end = head.unit(first + Math.max(TAIL_BLOCKS, blocks));
        if (end > Places.UNITS || taken > Integer.MAX_VALUE) {
            throw new IOException(path + " has no room for more rows: " + end + " longs");
        }
        Tail next = new Tail(
                first, MemorySegment.ofArray(new byte[Math.max(TAIL_BLOCKS, blocks) * CheckedBlocks.CONTENT_BYTES]));
        if (used > 0) {
            write(before);
        }
        tail = next;
        used = 0;
    }

    private void write(Tail full) throws IOException {
        BlockFile to = file;
        if (to == null) {
            to = open();
            file = to;
        }
        try (Arena arena = Arena.ofConfined()) {
            int blocks = full.blocks();
            MemorySegment memory = arena.allocate((long) blocks * CheckedBlocks.BLOCK_BYTES, CheckedBlocks.BLOCK_BYTES);
            for (int i = 0; i < blocks; i++) {
                MemorySegment block = memory.asSlice((long) i * CheckedBlocks.BLOCK_BYTES, CheckedBlocks.BLOCK_BYTES);
                MemorySegment.copy(
                        full.content, (long) i * CheckedBlocks.CONTENT_BYTES, block, 0, CheckedBlocks.CONTENT_BYTES);
                CheckedBlocks.seal(head.version(), full.firstBlock + i - head.headBlocks(), block);
            }
            to.write(full.firstBlock, memory);
        }
    }

    private BlockFile open() throws IOException {
        Files.deleteIfExists(path);
        Files.createFile(path, PrivateFile.attributes(path));
        return io.openForUpdate(path);
    }

    /** Closes and deletes the file. Reads in flight end; later reads are refused. */
    @Override
    public void close() {
        BlockFile opened = file;
        if (opened != null) {
            opened.close();
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOG.warn("{} stays until the table is opened again", path, e);
            }
        }
    }
}
