package io.github.roost.table;

import io.github.roost.core.TableFileException;
import io.github.roost.core.WholeFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The body of a version's file: blocks of 1 MiB, the last one shorter, each followed by the CRC-32C of the version, its number in
 * the file, and its bytes: a block of another place or version is none of this one.
 */
final class CheckedBlocks {
    static final int BLOCK_BYTES = 1 << 20;

    private final long version;
    private final ByteBuffer block =
            ByteBuffer.allocateDirect(BLOCK_BYTES + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer place = ByteBuffer.allocate(2 * Long.BYTES);
    private long number;

    CheckedBlocks(long version) {
        this.version = version;
    }

    /** Bytes of a file for so many bytes of content. */
    static long fileBytes(long bytes) {
        return bytes + (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * Integer.BYTES;
    }

    private int checksum(int bytes) {
        crc.reset();
        crc.update(place.clear().putLong(version).putLong(number).flip());
        crc.update(block.slice(0, bytes));
        return (int) crc.getValue();
    }

    /** Writes content. */
    final class Sink {
        private final FileChannel channel;

        Sink(FileChannel channel) {
            this.channel = channel;
            block.clear().limit(BLOCK_BYTES);
        }

        void putLong(long value) throws IOException {
            // Blocks are whole longs, and longs are written first.
            block.putLong(value);
            flushIfFull();
        }

        void put(MemorySegment from, long at, long bytes) throws IOException {
            for (long done = 0; done < bytes; ) {
                int piece = (int) Math.min(block.remaining(), bytes - done);
                MemorySegment.copy(from, at + done, MemorySegment.ofBuffer(block), 0, piece);
                block.position(block.position() + piece);
                done += piece;
                flushIfFull();
            }
        }

        private void flushIfFull() throws IOException {
            if (!block.hasRemaining()) {
                flush();
            }
        }

        private void flush() throws IOException {
            int bytes = block.position();
            block.limit(bytes + Integer.BYTES).putInt(bytes, checksum(bytes)).position(0);
            WholeFile.writeAll(channel, block);
            number++;
            block.clear().limit(BLOCK_BYTES);
        }

        void end() throws IOException {
            if (block.position() > 0) {
                flush();
            }
        }
    }

    /** Reads content, and refuses what is damaged. */
    final class Source {
        private final FileChannel channel;
        private final Path file;
        private long left;

        /** From the channel's position on. */
        Source(FileChannel channel, Path file, long bytes) {
            this.channel = channel;
            this.file = file;
            this.left = bytes;
            block.position(0).limit(0);
        }

        long getLong() throws IOException {
            fillIfEmpty();
            return block.getLong();
        }

        void get(MemorySegment to, long at, long bytes) throws IOException {
            for (long done = 0; done < bytes; ) {
                fillIfEmpty();
                int piece = (int) Math.min(block.remaining(), bytes - done);
                MemorySegment.copy(MemorySegment.ofBuffer(block), 0, to, at + done, piece);
                block.position(block.position() + piece);
                done += piece;
            }
        }

        private void fillIfEmpty() throws IOException {
            if (block.hasRemaining()) {
                return;
            }
            long at = channel.position();
            int bytes = (int) Math.min(BLOCK_BYTES, left);
            block.position(0).limit(bytes + Integer.BYTES);
            while (block.hasRemaining()) {
                if (channel.read(block) < 0) {
                    throw new TableFileException(file, channel.position(), "ends in the midst of a block");
                }
            }
            if (block.getInt(bytes) != checksum(bytes)) {
                throw new TableFileException(file, at, "is damaged: block " + number + " has another checksum");
            }
            number++;
            left -= bytes;
            block.position(0).limit(bytes);
        }
    }
}
