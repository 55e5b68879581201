package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;

import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The positions of cold rows, block by block, in a version's file and in the file of its {@link Spill}. The version's file was verified when the
 * version was loaded; as disks may corrupt data, each block, and each row in it, is verified again when it is read. Thread-safe.
 */
final class ColdFile implements AutoCloseable {
    private static final long LONGS = CheckedBlocks.CONTENT_BYTES / Long.BYTES;

    private final BlockIo io;
    private final BlockFile file;
    private final VersionFile.Head head;
    private final Schema schema;
    /** Null if the table takes no upserts. */
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

    /** Whether a block is in the spill's file, not the version's. */
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

    /** The path of the version's file. */
    Path path() {
        return file.path();
    }

    long version() {
        return head.version();
    }

    /** The number of the block that a row begins in. */
    long firstBlock(long payload) {
        return head.headBlocks() + (head.longsBefore() + Places.unit(payload)) / LONGS;
    }

    /** The last block that the row may extend to. */
    long lastBlock(long payload) {
        long first = firstBlock(payload);
        long end = first + Places.blocks(payload);
        return (isSpilled(first) ? end : Math.min(end, head.blocks())) - 1;
    }

    /** The offset in a tail's memory at which a row's length and then its bytes begin, or a negative number if the row is in a file. */
    long inTail(Spill.@Nullable Tail tail, long payload) {
        long block = firstBlock(payload);
        return tail == null || block < tail.firstBlock()
                ? -1
                : Spill.inTail(tail, block) + offset(head.longsBefore() + Places.unit(payload));
    }

    private static int offset(long longs) {
        return (int) (longs % LONGS) * Long.BYTES;
    }

    /** The fault of a damaged block, or null if it is intact. */
    @Nullable
    IOException fault(long block, MemorySegment memory) {
        long number = block - head.headBlocks();
        return CheckedBlocks.isWhole(head.version(), number, memory)
                ? null
                : fault(block, "is damaged: block " + number + " has another checksum");
    }

    private FileFormatException fault(long block, String what) {
        return new FileFormatException(
                isSpilled(block) ? requireSpill().path() : file.path(), block * CheckedBlocks.BLOCK_BYTES, what);
    }

    /** The length of a row, checked against the room in its blocks. */
    int bytes(long payload, MemorySegment first) throws IOException {
        int offset = offset(head.longsBefore() + Places.unit(payload));
        int bytes = first.get(INT, offset);
        long blocks = lastBlock(payload) - firstBlock(payload) + 1;
        int max = isSpilled(firstBlock(payload)) ? Schema.MAX_ROW_BYTES : head.maxRowBytes();
        if (bytes < 0 || bytes > max || offset + Integer.BYTES + bytes > blocks * CheckedBlocks.CONTENT_BYTES) {
            throw fault(firstBlock(payload), "has a row of " + bytes + " bytes, more than it says elsewhere");
        }
        return bytes;
    }

    /** The number of blocks that a row of {@code bytes} bytes extends over. */
    int blocks(long payload, int bytes) {
        int end = offset(head.longsBefore() + Places.unit(payload)) + Integer.BYTES + bytes;
        return (end + CheckedBlocks.CONTENT_BYTES - 1) / CheckedBlocks.CONTENT_BYTES;
    }

    /**
     * Copies a row out of its blocks, and validates it.
     *
     * @param blocks the memory of blocks; the row's are from index {@code first} on
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

    /** Closes the files. Reads in flight end; later reads are refused. */
    @Override
    public void close() {
        file.close();
        if (spill != null) {
            spill.close();
        }
    }
}
