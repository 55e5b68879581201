package io.github.roost.table;

import static io.github.roost.table.Schema.INT;

import io.github.roost.core.TableFileException;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Where rows lie in the file of a version, block by block, and in that of its {@link Spill}, where rows are put into it. The file was checked when the version was loaded; as disks forget, each block is
 * checked again when it is read, and each row in it. Thread-safe.
 */
final class ColdFile implements AutoCloseable {
    private static final long LONGS = CheckedBlocks.CONTENT_BYTES / Long.BYTES;

    private final BlockIo io;
    private final BlockFile file;
    private final VersionFile.Head head;
    private final Schema schema;
    /** Null where no rows are put. */
    private final @Nullable Spill spill;

    ColdFile(BlockIo io, BlockFile file, VersionFile.Head head, Schema schema, @Nullable Spill spill) {
        this.io = io;
        this.file = file;
        this.head = head;
        this.schema = schema;
        this.spill = spill;
    }

    BlockIo io() {
        return io;
    }

    /** The file that a block is in. */
    BlockFile file(long block) {
        return isSpilled(block) ? requireSpill().file() : file;
    }

    /** Whether a block is not of the version's file. */
    boolean isSpilled(long block) {
        return block >= head.blocks();
    }

    @Nullable
    Spill spill() {
        return spill;
    }

    private Spill requireSpill() {
        if (spill == null) {
            throw new IllegalStateException("version " + version() + " has no rows but those of its file");
        }
        return spill;
    }

    long version() {
        return head.version();
    }

    /** The block that a row begins in, by its number in the file. */
    long firstBlock(long payload) {
        return head.headBlocks() + (head.longsBefore() + Places.unit(payload)) / LONGS;
    }

    /** The last block that it may be in. */
    long lastBlock(long payload) {
        long first = firstBlock(payload);
        long end = first + Places.blocks(payload);
        return (isSpilled(first) ? end : Math.min(end, head.blocks())) - 1;
    }

    /** Where a row, with its length before it, begins in the memory of a tail, or a negative number if it is in a file. */
    long inTail(Spill.@Nullable Tail tail, long payload) {
        long block = firstBlock(payload);
        return tail == null || block < tail.firstBlock()
                ? -1
                : Spill.inTail(tail, block) + offset(head.longsBefore() + Places.unit(payload));
    }

    private static int offset(long longs) {
        return (int) (longs % LONGS) * Long.BYTES;
    }

    /** What is wrong with a block that is not what was written there; null with any other. */
    @Nullable
    IOException fault(long block, MemorySegment memory) {
        long number = block - head.headBlocks();
        return CheckedBlocks.isWhole(head.version(), number, memory)
                ? null
                : fault(block, "is damaged: block " + number + " has another checksum");
    }

    private TableFileException fault(long block, String what) {
        return new TableFileException(
                isSpilled(block) ? requireSpill().path() : file.path(), block * CheckedBlocks.BLOCK_BYTES, what);
    }

    /** Bytes of a row, which its blocks have room for. */
    int bytes(long payload, MemorySegment first) throws IOException {
        int offset = offset(head.longsBefore() + Places.unit(payload));
        int bytes = first.get(INT, offset);
        long blocks = lastBlock(payload) - firstBlock(payload) + 1;
        int most = isSpilled(firstBlock(payload)) ? Schema.MAX_ROW_BYTES : head.mostRowBytes();
        if (bytes < 0 || bytes > most || offset + Integer.BYTES + bytes > blocks * CheckedBlocks.CONTENT_BYTES) {
            throw fault(firstBlock(payload), "has a row of " + bytes + " bytes, more than it says elsewhere");
        }
        return bytes;
    }

    /** In how many blocks a row of so many bytes is, of those that it may be in. */
    int blocks(long payload, int bytes) {
        int end = offset(head.longsBefore() + Places.unit(payload)) + Integer.BYTES + bytes;
        return (end + CheckedBlocks.CONTENT_BYTES - 1) / CheckedBlocks.CONTENT_BYTES;
    }

    /**
     * Copies a row out of its blocks.
     *
     * @param blocks those of its payload, from {@code first} on
     */
    void copy(long payload, MemorySegment[] blocks, int first, int bytes, MemorySegment to, long at)
            throws IOException {
        int offset = offset(head.longsBefore() + Places.unit(payload)) + Integer.BYTES;
        int block = first;
        for (int done = 0; done < bytes; block++) {
            int piece = Math.min(CheckedBlocks.CONTENT_BYTES - offset, bytes - done);
            MemorySegment.copy(blocks[block], offset, to, at + done, piece);
            done += piece;
            offset = 0;
        }
        String fault = schema.fault(to, at, bytes);
        if (fault != null) {
            throw fault(firstBlock(payload), fault);
        }
    }

    /** Reads that are under way end; others are refused. */
    @Override
    public void close() {
        file.close();
        if (spill != null) {
            spill.close();
        }
    }
}
