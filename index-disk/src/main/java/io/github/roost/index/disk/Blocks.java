package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.INT;
import static io.github.roost.index.disk.DiskLayout.PAGE_BYTES;
import static io.github.roost.index.disk.DiskLayout.PAGE_CHECKSUM;
import static io.github.roost.index.disk.DiskLayout.PAGE_NUMBER;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** Blocks that tell whether they are what was written under their number: a checksum, then the number, then the rest. Stateless. */
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
        return checksumOf(block.asSlice(PAGE_NUMBER, PAGE_BYTES - PAGE_NUMBER));
    }

    static int checksumOf(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < bytes.byteSize(); at += 1 << 30) {
            crc.update(
                    bytes.asSlice(at, Math.min(1 << 30, bytes.byteSize() - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }
}
