package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which block of the file each page and each row block lies in. A page is never written to the block that it lies in, but to a free
 * one; the map that says so is written with the next checkpoint, and only when that is durable is the old block free.
 *
 * <p>{@link #page} is read by any thread; all else is the writer's, one thread at a time.
 */
final class BlockMap {
    /** Of a page that has never been written. */
    static final int NOWHERE = 0;

    private volatile AtomicIntegerArray pages = new AtomicIntegerArray(0);
    private int[] rowBlocks = new int[0];

    /** Has room for so many pages and row blocks; new ones lie nowhere. */
    void grow(int pageCount, int rowBlockCount) {
        if (pageCount > pages.length()) {
            AtomicIntegerArray grown = new AtomicIntegerArray(pageCount + pageCount / 4);
            for (int i = 0; i < pages.length(); i++) {
                grown.set(i, pages.get(i));
            }
            pages = grown;
        }
        if (rowBlockCount > rowBlocks.length) {
            rowBlocks = Arrays.copyOf(rowBlocks, rowBlockCount + rowBlockCount / 4);
        }
    }

    /** Where a page lies. */
    int page(int number) {
        AtomicIntegerArray now = pages;
        return number < now.length() ? now.get(number) : NOWHERE;
    }

    void setPage(int number, int block) {
        pages.set(number, block);
    }

    int rowBlock(int number) {
        return rowBlocks[number];
    }

    void setRowBlock(int number, int block) {
        rowBlocks[number] = block;
    }

    static int blocks(int pageCount, int rowBlockCount) {
        return (int) Math.ceilDiv((pageCount + rowBlockCount) * (long) Integer.BYTES, (long) DiskLayout.PAGE_BYTES);
    }

    /** Of whole blocks, all behind the end of the map zero. */
    void write(MemorySegment into, int pageCount, int rowBlockCount) {
        for (int i = 0; i < pageCount; i++) {
            into.set(INT, (long) i * Integer.BYTES, page(i));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            into.set(INT, (long) (pageCount + i) * Integer.BYTES, rowBlocks[i]);
        }
    }

    /** The same, with what has another place by now. */
    void write(
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
        map.grow(pageCount, rowBlockCount);
        for (int i = 0; i < pageCount; i++) {
            map.setPage(i, from.get(INT, (long) i * Integer.BYTES));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            map.setRowBlock(i, from.get(INT, (long) (pageCount + i) * Integer.BYTES));
        }
        return map;
    }

    /** Whether all row blocks, and all pages that have been written, lie between two blocks. */
    boolean isWithin(int pageCount, int rowBlockCount, long first, long end) {
        for (int i = 0; i < pageCount; i++) {
            int block = page(i);
            if (block != NOWHERE && (block < first || block >= end)) {
                return false;
            }
        }
        for (int i = 0; i < rowBlockCount; i++) {
            if (rowBlocks[i] < first || rowBlocks[i] >= end) {
                return false;
            }
        }
        return true;
    }

    /** The blocks that something lies in. */
    BitSet used(int pageCount, int rowBlockCount) {
        BitSet used = new BitSet();
        for (int i = 0; i < pageCount; i++) {
            used.set(page(i));
        }
        for (int i = 0; i < rowBlockCount; i++) {
            used.set(rowBlocks[i]);
        }
        return used;
    }
}
