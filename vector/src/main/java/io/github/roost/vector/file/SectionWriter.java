package io.github.roost.vector.file;

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
    /** Size of the checksum that follows a section's content. */
    public static final int CHECKSUM_BYTES = Long.BYTES;

    private static final int BUFFER_BYTES = 1 << 20;

    private final WritableByteChannel channel;
    private final CRC32C checksum = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long written;

    /**
     * Begins a section.
     *
     * @param channel the channel to write to, at its position
     */
    public SectionWriter(WritableByteChannel channel) {
        this.channel = channel;
    }

    /**
     * Returns a buffer for the next bytes of the content. The caller must put them before the next call.
     *
     * @param bytes the number of bytes to put, at most 1 MiB
     * @return a little-endian buffer with at least {@code bytes} remaining
     * @throws IOException if earlier bytes cannot be written
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
     * @param floats the floats to add
     * @throws IOException if they cannot be written
     */
    public void put(float[] floats) throws IOException {
        int max = BUFFER_BYTES / Float.BYTES;
        for (int from = 0; from < floats.length; from += max) {
            int count = Math.min(max, floats.length - from);
            ByteBuffer room = room(count * Float.BYTES);
            room.asFloatBuffer().put(floats, from, count);
            room.position(room.position() + count * Float.BYTES);
        }
    }

    /**
     * Adds longs.
     *
     * @param longs the longs to add
     * @throws IOException if they cannot be written
     */
    public void put(long[] longs) throws IOException {
        for (long value : longs) {
            room(Long.BYTES).putLong(value);
        }
    }

    /**
     * Adds bytes unchanged.
     *
     * @param bytes a segment of any length
     * @throws IOException if they cannot be written
     */
    public void put(MemorySegment bytes) throws IOException {
        flush();
        Checksum.update(checksum, bytes);
        WholeFile.writeAll(channel, bytes);
        written += bytes.byteSize();
    }

    /**
     * Ends the section: writes the checksum, and pads with zeroes to the alignment.
     *
     * @param alignment the alignment of the end, relative to the begin of the section; a power of two up to 1 MiB, 1 for no padding
     * @return the length of the section, including checksum and padding
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
