package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.LONG;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_BYTES;

import io.github.roost.vector.Metric;
import io.github.roost.vector.file.Checksum;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The root of a table's file, which describes one checkpoint; data that it does not refer to does not count. Two blocks hold one
 * each, and the newer valid one counts, so that one can be written while the other stays intact.
 *
 * @param sequence number of the checkpoint, from 1
 * @param isWhole whether the table is in this file alone: its logs have no updates that are not in it, and none can come before a later checkpoint
 * @param tableId unique to this table; distinguishes its logs from logs of another table of the same name
 * @param layout layout of the blocks
 * @param metric distance function
 * @param nodes number of nodes, including free ones
 * @param entry node where searches begin
 * @param mapBlock first block of the map
 * @param mapChecksum checksum of the map
 * @param centroidBlock first block of the centroids
 * @param centroidChecksum checksum of the centroids
 * @param errors how well the codes stand for the rows
 */
public record Superblock(
        long sequence,
        boolean isWhole,
        long tableId,
        DiskLayout layout,
        Metric metric,
        int nodes,
        int entry,
        int mapBlock,
        int mapChecksum,
        int centroidBlock,
        int centroidChecksum,
        CodeErrors errors) {
    private static final long MAGIC = DiskFormats.TABLE.magic();

    private static final int VERSION = 3;
    private static final int CHECKSUM = PAGE_BYTES - Integer.BYTES;
    private static final int MAX_CODE_BYTES = 4_000;
    /** A larger map would exceed any memory; keeps sums within their range. */
    public static final int MAX_NODES = 1_000_000_000;

    /** The block, of the two, that a checkpoint is written to. */
    public static int blockOf(long sequence) {
        return (int) (sequence % DiskLayout.SUPERBLOCKS);
    }

    public void write(MemorySegment block) {
        block.fill((byte) 0);
        block.set(LONG, 0, MAGIC);
        block.set(INT, 8, VERSION);
        block.set(INT, 12, isWhole ? 1 : 0);
        block.set(LONG, 16, sequence);
        block.set(LONG, 24, tableId);
        block.set(INT, 32, layout.dimension());
        block.set(INT, 36, layout.degree());
        block.set(INT, 40, layout.codeBytes());
        block.set(INT, 44, metric.ordinal());
        block.set(INT, 48, nodes);
        block.set(INT, 52, entry);
        block.set(INT, 56, mapBlock);
        block.set(INT, 60, mapChecksum);
        block.set(INT, 64, centroidChecksum);
        block.set(INT, 68, centroidBlock);
        block.set(INT, 72, errors.trained());
        block.set(INT, 76, errors.added());
        block.set(LONG, 80, Double.doubleToLongBits(errors.mean()));
        block.set(LONG, 88, Double.doubleToLongBits(errors.sum()));
        block.set(INT, CHECKSUM, Checksum.of(block.asSlice(0, CHECKSUM)));
    }

    /** A later checkpoint of the same content, of which the logs are a part. */
    public Superblock followed() {
        return new Superblock(
                sequence + 1,
                false,
                tableId,
                layout,
                metric,
                nodes,
                entry,
                mapBlock,
                mapChecksum,
                centroidBlock,
                centroidChecksum,
                errors);
    }

    /** Writes both blocks of a file without another checkpoint, so that the file begins with its format's magic number. */
    public void writeBoth(MemorySegment blocks) {
        for (int block = 0; block < DiskLayout.SUPERBLOCKS; block++) {
            write(blocks.asSlice((long) block * PAGE_BYTES, PAGE_BYTES));
        }
    }

    /** The superblock in a block, or null if the block is not a valid one. */
    public static @Nullable Superblock read(MemorySegment block) {
        if (block.get(LONG, 0) != MAGIC
                || block.get(INT, 8) != VERSION
                || block.get(INT, CHECKSUM) != Checksum.of(block.asSlice(0, CHECKSUM))) {
            return null;
        }
        DiskLayout layout = new DiskLayout(block.get(INT, 32), block.get(INT, 36), block.get(INT, 40));
        int metric = block.get(INT, 44);
        int nodes = block.get(INT, 48);
        int entry = block.get(INT, 52);
        int centroidBlock = block.get(INT, 68);
        CodeErrors errors = new CodeErrors(
                block.get(INT, 72),
                Double.longBitsToDouble(block.get(LONG, 80)),
                block.get(INT, 76),
                Double.longBitsToDouble(block.get(LONG, 88)));
        // A right checksum does not mean that the writer was right.
        boolean sound = layout.dimension() >= 1
                && layout.dimension() <= PAGE_BYTES
                && layout.degree() >= 1
                && layout.degree() <= PAGE_BYTES
                && layout.codeBytes() >= 1
                && layout.codeBytes() <= Math.min(MAX_CODE_BYTES, layout.dimension())
                && layout.nodesPerPage() >= 1
                && metric >= 0
                && metric < Metric.values().length
                && Metric.values()[metric] != Metric.INNER_PRODUCT
                && nodes >= 1
                && nodes <= MAX_NODES
                && entry >= 0
                && entry < nodes
                && block.get(INT, 56) >= layout.firstFreeBlock()
                && centroidBlock >= DiskLayout.SUPERBLOCKS
                && errors.isSound()
                && block.get(LONG, 16) >= 1;
        return sound
                ? new Superblock(
                        block.get(LONG, 16),
                        block.get(INT, 12) == 1,
                        block.get(LONG, 24),
                        layout,
                        Metric.values()[metric],
                        nodes,
                        entry,
                        block.get(INT, 56),
                        block.get(INT, 60),
                        centroidBlock,
                        block.get(INT, 64),
                        errors)
                : null;
    }
}
