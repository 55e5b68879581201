package io.github.roost.index.remote;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Numbers and checksums as regions hold them. Stateless. */
final class Bytes {
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Bytes() {}

    static long aligned(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    /** CRC-32C of some bytes, at most 2 GiB. */
    static int checksum(MemorySegment memory) {
        CRC32C checksum = new CRC32C();
        checksum.update(memory.asByteBuffer());
        return (int) checksum.getValue();
    }
}
