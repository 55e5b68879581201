package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.INT;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Map;

/**
 * The block of each page and each row block in the file. A page is never overwritten in place, but written to a free block; the
 * new map is written with the next checkpoint, and only when that is durable is the old block free.
 *
 * <p>Any thread may read. The writer sets the blocks of pages, the thread that has written a checkpoint those of row blocks.
 */
public final class BlockMap {
    /** The block of a page that has never been written. */
    public static final int NOWHERE = 0;

    private final IntChunks pages = new IntChunks();
    private final IntChunks rowBlocks = new IntChunks();

    /** The block of a page. */
    public int page(int number) {
        return pages.get(number);
    }

    public void setPage(int number, int block) {
        pages.set(number, block);
    }

    public int rowBlock(int number) {
        return rowBlocks.get(number);
    }

    public void setRowBlock(int number, int block) {
        rowBlocks.set(number, block);
    }

    public static int blocks(int pageCount, int rowBlockCount) {
        return (int) Math.ceilDiv((pageCount + rowBlockCount) * (long) Integer.BYTES, (long) DiskLayout.PAGE_BYTES);
    }

    /** Writes the map to whole blocks of zeros. */
    public void write(MemorySegment into, int pageCount, int rowBlockCount) {
        for (int i = 0; i < pageCount; i++) {
            into.set(INT, (long) i * Integer.BYTES, page(i));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            into.set(INT, (long) (pageCount + i) * Integer.BYTES, rowBlock(i));
        }
    }

    /** Writes the map with new places of some pages and row blocks. */
    public void write(
            MemorySegment into,
            int pageCount,
            int rowBlockCount,
            Map<Integer, Integer> pagesAt,
            Map<Integer, Integer> rowBlocksAt) {
        write(into, pageCount, rowBlockCount);
        pagesAt.forEach((page, at) -> into.set(INT, (long) page * Integer.BYTES, at));
        rowBlocksAt.forEach((block, at) -> into.set(INT, (long) (pageCount + block) * Integer.BYTES, at));
    }

    static BlockMap read(MemorySegment from, int pageCount, int rowBlockCount) {
        BlockMap map = new BlockMap();
        for (int i = 0; i < pageCount; i++) {
            map.setPage(i, from.get(INT, (long) i * Integer.BYTES));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            map.setRowBlock(i, from.get(INT, (long) (pageCount + i) * Integer.BYTES));
        }
        return map;
    }

    /** Whether all row blocks, and all pages that have been written, are in a range of blocks. */
    boolean isWithin(int pageCount, int rowBlockCount, long first, long end) {
        for (int i = 0; i < pageCount; i++) {
            int block = page(i);
            if (block != NOWHERE && (block < first || block >= end)) {
                return false;
            }
        }
        for (int i = 0; i < rowBlockCount; i++) {
            if (rowBlock(i) < first || rowBlock(i) >= end) {
                return false;
            }
        }
        return true;
    }

    /** The blocks of all pages and row blocks. */
    public BitSet used(int pageCount, int rowBlockCount) {
        BitSet used = new BitSet();
        for (int i = 0; i < pageCount; i++) {
            used.set(page(i));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            used.set(rowBlock(i));
        }
        return used;
    }
}
