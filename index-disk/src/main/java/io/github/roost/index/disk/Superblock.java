package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.INT;
import static io.github.roost.index.disk.DiskLayout.LONG;
import static io.github.roost.index.disk.DiskLayout.PAGE_BYTES;

import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The root of a table's file: what is not said here is not there. Two blocks hold one each, and the newer of those that are whole
 * counts, so that one can be written while the other stands.
 *
 * @param sequence of the newer one is larger
 * @param layout of the file
 * @param metric how distances are measured
 * @param entry node where searches begin
 * @param memoryChecksum of the section that is kept in memory
 */
record Superblock(long sequence, DiskLayout layout, Metric metric, int entry, int memoryChecksum) {
    /** "ROOSTDSK" in the file. */
    private static final long MAGIC = 0x4B53_4454_534F_4F52L;

    private static final int VERSION = 1;
    private static final int CHECKSUM = PAGE_BYTES - Integer.BYTES;
    private static final int MOST_CODE_BYTES = 4096;

    void write(MemorySegment block) {
        block.fill((byte) 0);
        block.set(LONG, 0, MAGIC);
        block.set(INT, 8, VERSION);
        block.set(LONG, 16, sequence);
        block.set(INT, 24, layout.dimension());
        block.set(INT, 28, layout.degree());
        block.set(INT, 32, layout.nodes());
        block.set(INT, 36, layout.codeBytes());
        block.set(INT, 40, metric.ordinal());
        block.set(INT, 44, entry);
        block.set(INT, 48, memoryChecksum);
        block.set(INT, CHECKSUM, checksum(block.asSlice(0, CHECKSUM)));
    }

    /** What a block holds, or null where that is no whole superblock of a table. */
    static @Nullable Superblock read(MemorySegment block) {
        if (block.get(LONG, 0) != MAGIC
                || block.get(INT, 8) != VERSION
                || block.get(INT, CHECKSUM) != checksum(block.asSlice(0, CHECKSUM))) {
            return null;
        }
        DiskLayout layout =
                new DiskLayout(block.get(INT, 24), block.get(INT, 28), block.get(INT, 32), block.get(INT, 36));
        int metric = block.get(INT, 40);
        int entry = block.get(INT, 44);
        // The checksum says that it was written so, not that whoever wrote it was right.
        boolean sound = layout.dimension() >= 1
                && layout.degree() >= 1
                && layout.nodes() >= 1
                && layout.codeBytes() >= 1
                && layout.codeBytes() <= Math.min(MOST_CODE_BYTES, layout.dimension())
                && layout.dimension() <= PAGE_BYTES
                && layout.degree() <= PAGE_BYTES
                && layout.nodesPerPage() >= 1
                && metric >= 0
                && metric < Metric.values().length
                && entry >= 0
                && entry < layout.nodes();
        return sound
                ? new Superblock(block.get(LONG, 16), layout, Metric.values()[metric], entry, block.get(INT, 48))
                : null;
    }

    static int checksum(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < bytes.byteSize(); at += 1 << 30) {
            crc.update(
                    bytes.asSlice(at, Math.min(1 << 30, bytes.byteSize() - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }
}
