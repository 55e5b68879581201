package io.github.roost.index.disk.format;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.io.BlockFile;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.SecureRandom;

/** Copies the file of a table to a table of its own without logs. Stateless. */
public final class TableCopy {
    private static final int BLOCKS_AT_ONCE = 256;

    private TableCopy() {}

    /**
     * Copies a checkpoint.
     *
     * @param isKept whether its blocks are not used again meanwhile
     * @throws IOException if they may be, and a later one has been written by another table
     */
    public static void write(BlockFile file, Superblock root, boolean isKept, Path copy) throws IOException {
        Superblock first = new Superblock(
                1,
                true,
                new SecureRandom().nextLong(),
                root.layout(),
                root.metric(),
                root.nodes(),
                root.entry(),
                root.mapBlock(),
                root.mapChecksum(),
                root.centroidBlock(),
                root.centroidChecksum(),
                root.errors());
        long blocks = file.blocks();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate((long) BLOCKS_AT_ONCE * BLOCK_BYTES, BLOCK_BYTES);
            WholeFile.replace(copy, channel -> {
                for (long begin = 0; begin < blocks; begin += BLOCKS_AT_ONCE) {
                    MemorySegment run = all.asSlice(0, Math.min(BLOCKS_AT_ONCE, blocks - begin) * BLOCK_BYTES);
                    file.read(begin, run);
                    if (begin == 0) {
                        first.writeBoth(run);
                    }
                    WholeFile.writeAll(channel, run.asByteBuffer());
                }
                if (!isKept) {
                    requireNewest(file, root);
                }
            });
        }
    }

    /** A later superblock of the same content, which only says that logs follow, frees no block. */
    private static void requireNewest(BlockFile file, Superblock root) throws IOException {
        Superblock newest = DiskGraph.root(file);
        if (newest.mapBlock() != root.mapBlock() || newest.mapChecksum() != root.mapChecksum()) {
            throw new FileFormatException(
                    file.path(),
                    (long) Superblock.blockOf(newest.sequence()) * BLOCK_BYTES,
                    "has a later checkpoint than when it was opened for searches, which may have lost blocks since:"
                            + " open it again to save it");
        }
    }
}
