package io.github.roost.bench.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A temporary file of 4-KiB blocks, each of which begins with its number, so that a read of a wrong block is detected.
 *
 * @param path readable only by its owner
 * @param count of blocks
 */
public record NumberedBlocks(Path path, int count) implements AutoCloseable {
    /** Bytes per block. */
    public static final int BYTES = 4096;

    private static final int BLOCKS_PER_WRITE = 256;

    /** Writes such a file into a folder. */
    public static NumberedBlocks in(Path folder, int count) throws IOException {
        Path path = Files.createTempFile(folder, "roost-blocks-", ".tmp");
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            ByteBuffer some =
                    ByteBuffer.allocateDirect(BLOCKS_PER_WRITE * BYTES).order(ByteOrder.nativeOrder());
            for (int block = 0; block < count; block += BLOCKS_PER_WRITE) {
                some.clear();
                int blocks = Math.min(BLOCKS_PER_WRITE, count - block);
                for (int i = 0; i < blocks; i++) {
                    some.putLong(i * BYTES, block + i);
                }
                some.limit(blocks * BYTES);
                while (some.hasRemaining()) {
                    channel.write(some);
                }
            }
            channel.force(true);
            return new NumberedBlocks(path, count);
        } catch (Throwable failed) {
            Files.deleteIfExists(path);
            throw failed;
        }
    }

    /** Throws an IllegalStateException unless the block that was read begins with its number. */
    static void require(long block, long number) {
        if (block != number) {
            throw new IllegalStateException("block " + block + " was read as block " + number);
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
    }
}
