package io.github.roost.rows;

import io.github.roost.io.BlockIo;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * The body of a version's file: blocks of 4 KiB, so that a single row can be read, and with direct I/O. A block has 4,088 bytes of content, padded
 * with zeros in the last block; then four zeros, and the CRC-32C of the version, the block's number in the body, and the preceding bytes. So a block
 * of another place or version does not pass.
 */
final class CheckedBlocks {
    static final int BLOCK_BYTES = BlockIo.BLOCK_BYTES;
    /** A multiple of 8, so that no long spans two blocks. */
    static final int CONTENT_BYTES = BLOCK_BYTES - Long.BYTES;

    private static final int CHECKED_BYTES = BLOCK_BYTES - Integer.BYTES;
    /** The maximum bytes per system call. */
    private static final int BUFFER_BYTES = 1 << 20;

    private final long version;
    private final ByteBuffer buffer;
    private long number;
    /** The offset of the current block in the buffer. */
    private int begin;

    /** For a body of {@code bytes} bytes of content. */
    CheckedBlocks(long version, long bytes) {
        this.version = version;
        int size = (int) Math.min(BUFFER_BYTES, (blocks(bytes) + 1) * BLOCK_BYTES);
        this.buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The number of blocks for {@code bytes} bytes of content. */
    static long blocks(long bytes) {
        return (bytes + CONTENT_BYTES - 1) / CONTENT_BYTES;
    }

    /** Whether a block has this version and number, and is undamaged. */
    static boolean isWhole(long version, long number, MemorySegment block) {
        return block.get(Schema.INT, CHECKED_BYTES) == checksum(version, number, block);
    }

    /** Writes a block's checksum at its end. */
    static void seal(long version, long number, MemorySegment block) {
        block.set(Schema.INT, CHECKED_BYTES, checksum(version, number, block));
    }

    private static int checksum(long version, long number, MemorySegment block) {
        byte[] place = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(version)
                .putLong(number)
                .array();
        return Checksum.of(MemorySegment.ofArray(place), block.asSlice(0, CHECKED_BYTES));
    }

    /** The current block. */
    private MemorySegment block() {
        return MemorySegment.ofBuffer(buffer.slice(begin, BLOCK_BYTES));
    }

    /** Sets the buffer's position and limit to the first {@code content} bytes of the block. */
    private void enter(int content) {
        buffer.limit(begin + content).position(begin);
    }

    /** Writes content. */
    final class Sink {
        private final FileChannel channel;

        Sink(FileChannel channel) {
            this.channel = channel;
            enter(CONTENT_BYTES);
        }

        void putLong(long value) throws IOException {
            // A block's content is whole longs, and longs are written first, so there is room.
            buffer.putLong(value);
            endBlockIfFull();
        }

        void put(MemorySegment from, long at, long bytes) throws IOException {
            for (long done = 0; done < bytes; ) {
                int piece = (int) Math.min(buffer.remaining(), bytes - done);
                MemorySegment.copy(from, at + done, MemorySegment.ofBuffer(buffer), 0, piece);
                buffer.position(buffer.position() + piece);
                done += piece;
                endBlockIfFull();
            }
        }

        private void endBlockIfFull() throws IOException {
            if (!buffer.hasRemaining()) {
                endBlock();
            }
        }

        private void endBlock() throws IOException {
            buffer.limit(begin + BLOCK_BYTES);
            while (buffer.position() < begin + CHECKED_BYTES) {
                buffer.put((byte) 0);
            }
            seal(version, number, block());
            number++;
            begin += BLOCK_BYTES;
            if (begin == buffer.capacity()) {
                flush();
            }
            enter(CONTENT_BYTES);
        }

        private void flush() throws IOException {
            WholeFile.writeAll(channel, buffer.position(begin).flip());
            begin = 0;
            buffer.clear();
        }

        void end() throws IOException {
            if (buffer.position() > begin) {
                endBlock();
            }
            flush();
        }
    }

    /** Reads content, and rejects damaged blocks. */
    final class Source {
        private final FileChannel channel;
        private final Path file;
        /** Bytes of content in blocks that have not been begun. */
        private long left;
        /** The number of bytes in the buffer. */
        private int filled;

        /** Reads from the channel's position on. */
        Source(FileChannel channel, Path file, long bytes) {
            this.channel = channel;
            this.file = file;
            this.left = bytes;
            begin = -BLOCK_BYTES;
            buffer.limit(0);
        }

        long getLong() throws IOException {
            beginBlockIfEmpty();
            return buffer.getLong();
        }

        void get(MemorySegment to, long at, long bytes) throws IOException {
            for (long done = 0; done < bytes; ) {
                beginBlockIfEmpty();
                int piece = (int) Math.min(buffer.remaining(), bytes - done);
                MemorySegment.copy(MemorySegment.ofBuffer(buffer), 0, to, at + done, piece);
                buffer.position(buffer.position() + piece);
                done += piece;
            }
        }

        /** Skips the rest of the content, verifying its blocks. */
        void skipAll() throws IOException {
            while (left > 0) {
                buffer.position(buffer.limit());
                beginBlockIfEmpty();
            }
        }

        private void beginBlockIfEmpty() throws IOException {
            if (buffer.hasRemaining()) {
                return;
            }
            begin += BLOCK_BYTES;
            if (begin == filled) {
                fill();
            }
            buffer.limit(filled);
            if (!isWhole(version, number, block())) {
                long at = channel.position() - filled + begin;
                throw new FileFormatException(file, at, "is damaged: block " + number + " has another checksum");
            }
            number++;
            int content = (int) Math.min(CONTENT_BYTES, left);
            left -= content;
            enter(content);
        }

        private void fill() throws IOException {
            filled = (int) Math.min(buffer.capacity(), blocks(left) * BLOCK_BYTES);
            begin = 0;
            buffer.clear().limit(filled);
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new FileFormatException(file, channel.position(), "ends within a block");
                }
            }
        }
    }
}
