package io.github.roost.core.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.util.zip.CRC32C;

/**
 * Writes one section of a file: little-endian content, then its CRC-32C as eight bytes. {@link FileChecks#requireSection} reads it.
 * Content goes to the channel in pieces, so a section may be larger than a buffer. Not thread-safe.
 */
public final class SectionWriter {
    /** Bytes that a section has beside its content. */
    public static final int CHECKSUM_BYTES = Long.BYTES;

    private static final int BUFFER_BYTES = 1 << 20;

    private final WritableByteChannel channel;
    private final CRC32C checksum = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long written;

    /**
     * Begins a section.
     *
     * @param channel to write to, from its position on
     */
    public SectionWriter(WritableByteChannel channel) {
        this.channel = channel;
    }

    /**
     * Gives room for the next bytes of the content, which the caller puts there at once.
     *
     * @param bytes that are put, at most 1 MiB
     * @return little-endian, with at least that much room from its position on
     * @throws IOException if what came before cannot be written
     */
    public ByteBuffer room(int bytes) throws IOException {
        if (bytes > BUFFER_BYTES) {
            throw new IllegalArgumentException("bytes must be at most " + BUFFER_BYTES + ", got " + bytes);
        }
        if (buffer.remaining() < bytes) {
            flush();
        }
        return buffer;
    }

    /**
     * Adds floats.
     *
     * @param floats to add, of any number
     * @throws IOException if they cannot be written
     */
    public void put(float[] floats) throws IOException {
        int most = BUFFER_BYTES / Float.BYTES;
        for (int from = 0; from < floats.length; from += most) {
            int count = Math.min(most, floats.length - from);
            ByteBuffer room = room(count * Float.BYTES);
            room.asFloatBuffer().put(floats, from, count);
            room.position(room.position() + count * Float.BYTES);
        }
    }

    /**
     * Adds longs.
     *
     * @param longs to add, of any number
     * @throws IOException if they cannot be written
     */
    public void put(long[] longs) throws IOException {
        for (long value : longs) {
            room(Long.BYTES).putLong(value);
        }
    }

    /**
     * Adds bytes as they lie in memory.
     *
     * @param bytes of any length
     * @throws IOException if they cannot be written
     */
    public void put(MemorySegment bytes) throws IOException {
        flush();
        Checksum.update(checksum, bytes);
        WholeFile.writeAll(channel, bytes);
        written += bytes.byteSize();
    }

    /**
     * Ends the section: writes the checksum, and zeroes up to the alignment.
     *
     * @param alignment of what follows, relative to the beginning of the section; a power of two up to 1 MiB, 1 for no zeroes
     * @return bytes from the beginning of the section to there
     * @throws IOException if they cannot be written
     */
    public long end(int alignment) throws IOException {
        flush();
        buffer.putLong(checksum.getValue());
        long end = (written + CHECKSUM_BYTES + alignment - 1) / alignment * alignment;
        while (written + buffer.position() < end) {
            room(1).put((byte) 0);
        }
        flush();
        return end;
    }

    private void flush() throws IOException {
        buffer.flip();
        checksum.update(buffer.duplicate());
        written += buffer.limit();
        WholeFile.writeAll(channel, buffer);
        buffer.clear();
    }
}
