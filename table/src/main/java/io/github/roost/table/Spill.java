package io.github.roost.table;

import static io.github.roost.table.Schema.INT;

import io.github.roost.core.file.PrivateFile;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows that are put into a version whose values do not fit into memory. They go to a file of their own, whose blocks have the numbers that follow those of the version's file: so one
 * kind of place says where a row is, whichever of the two it is in, and the version's file stays as it was sealed. The new file has a hole where the
 * version's blocks would be. It is its owner's alone, and goes when the version does; a process that is killed leaves it to be deleted when the table is opened.
 *
 * <pre>
 * version's file    head, schema, keys, values
 * file of the spill                            [written: never changed] [tail: in memory, appended to]
 * </pre>
 *
 * <p>One thread appends, any number read. <b>Why a row that was put is found at every moment.</b> It is appended to the tail, which is memory, before the index
 * gets its place, with release. When the tail is full, all of its blocks are written, and only then another tail begins behind them. Who has found the place in the
 * index looks at the tail afterwards, and so sees the tail that the row is in, or a later one. In the first case it copies the row from the memory of that tail, which nobody
 * frees while it has it, and in which nothing that was appended is changed. In the second case the row's blocks lie before the tail: they were written before that tail was
 * there to be seen, and no block is written again from then on. So no block is read that is being written.
 *
 * <p>Whatever fails to be written has changed nothing: the tail stays, with all its rows, and is written when the next row comes. What is half written then
 * is read by nobody.
 */
final class Spill implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Spill.class);

    /** Blocks that are written at once, unless one row has more: 64 KiB. */
    static final int TAIL_BLOCKS = 16;

    /**
     * Rows that are not written yet.
     *
     * @param firstBlock where they are going to be
     * @param content of so many blocks, on the heap
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
    /** Written by the one who appends, as are all fields. */
    private volatile Tail tail;

    private volatile @Nullable BlockFile file;
    private int used;

    Spill(BlockIo io, Path path, VersionFile.Head head) {
        this.io = io;
        this.path = path;
        this.head = head;
        this.tail = new Tail(head.blocks(), MemorySegment.ofArray(new byte[0]));
    }

    /** Rows in memory; to be looked at after the index. */
    Tail tail() {
        return tail;
    }

    /** Blocks before the tail. */
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

    /** Bytes in the file. */
    long fileBytes() {
        return (tail.firstBlock - head.blocks()) * CheckedBlocks.BLOCK_BYTES;
    }

    /** Where the bytes of a block's content begin in the tail, or a negative number for a block that is written. */
    static long inTail(Tail tail, long block) {
        return (block - tail.firstBlock) * CheckedBlocks.CONTENT_BYTES;
    }

    /**
     * Adds a row.
     *
     * @return its place
     * @throws IOException if the rows before it cannot be written; nothing has changed
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
        // The blocks of a long row are known in steps: so many are read, and so many there have to be.
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

    /** Reads that are under way end; others are refused. */
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
