package io.github.roost.vector.file;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** The checksum of Roost's files: CRC-32C. Stateless. */
public final class Checksum {
    /** A buffer holds less than 2 GiB, a segment may be larger. */
    private static final long PIECE = 1L << 30;

    private Checksum() {}

    /**
     * Returns the checksum of bytes.
     *
     * @param bytes segments of any length, one after the other
     * @return their CRC-32C
     */
    public static int of(MemorySegment... bytes) {
        CRC32C checksum = new CRC32C();
        for (MemorySegment piece : bytes) {
            update(checksum, piece);
        }
        return (int) checksum.getValue();
    }

    static void update(CRC32C checksum, MemorySegment bytes) {
        for (long at = 0; at < bytes.byteSize(); at += PIECE) {
            checksum.update(
                    bytes.asSlice(at, Math.min(PIECE, bytes.byteSize() - at)).asByteBuffer());
        }
    }
}
