package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_BYTES;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_CHECKSUM;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_NUMBER;

import io.github.roost.vector.file.Checksum;
import java.lang.foreign.MemorySegment;

/** Seals and checks blocks by a header: a checksum, then the block's number, then the content. Stateless. */
final class Blocks {
    private Blocks() {}

    static void seal(MemorySegment block, int number) {
        block.set(INT, PAGE_NUMBER, number);
        block.set(INT, PAGE_CHECKSUM, checksum(block));
    }

    static boolean isWhole(MemorySegment block, int number) {
        return block.get(INT, PAGE_NUMBER) == number && block.get(INT, PAGE_CHECKSUM) == checksum(block);
    }

    private static int checksum(MemorySegment block) {
        return Checksum.of(block.asSlice(PAGE_NUMBER, PAGE_BYTES - PAGE_NUMBER));
    }
}
