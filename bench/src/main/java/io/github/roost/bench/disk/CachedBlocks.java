package io.github.roost.bench.disk;

import io.github.jbellis.jvector.disk.RandomAccessReader;
import io.github.roost.bench.io.DirectOption;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Reads a file for jvector with direct I/O, in blocks of 4 KiB, through an LRU cache of blocks. Unlike a mapped file its memory is bounded. Not
 * thread-safe.
 */
final class CachedBlocks implements RandomAccessReader {
    private static final int BLOCK = 4096;

    private final FileChannel channel;
    private final ByteBuffer read = ByteBuffer.allocateDirect(2 * BLOCK).alignedSlice(BLOCK);
    private final Map<Long, byte[]> cached;
    private long position;

    /** @param max maximum bytes of the cache; it holds at least one block */
    CachedBlocks(Path file, long max) throws IOException {
        this.channel = FileChannel.open(file, Set.of(StandardOpenOption.READ, DirectOption.get()));
        long blocks = Math.max(1, max / BLOCK);
        this.cached = new LinkedHashMap<>(16, .75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, byte[]> eldest) {
                return size() > blocks;
            }
        };
    }

    private byte[] block(long number) throws IOException {
        byte[] block = cached.get(number);
        if (block == null) {
            read.clear().limit(BLOCK);
            // The last block of the file may be shorter.
            int bytes = channel.read(read, number * BLOCK);
            block = new byte[BLOCK];
            read.flip().get(block, 0, Math.max(0, bytes));
            cached.put(number, block);
        }
        return block;
    }

    private ByteBuffer next(int bytes) throws IOException {
        byte[] into = new byte[bytes];
        readFully(into);
        return ByteBuffer.wrap(into);
    }

    @Override
    public void seek(long to) {
        position = to;
    }

    @Override
    public long getPosition() {
        return position;
    }

    @Override
    public long length() throws IOException {
        return channel.size();
    }

    @Override
    public int readInt() throws IOException {
        return next(Integer.BYTES).getInt();
    }

    @Override
    public float readFloat() throws IOException {
        return next(Float.BYTES).getFloat();
    }

    @Override
    public long readLong() throws IOException {
        return next(Long.BYTES).getLong();
    }

    @Override
    public void readFully(byte[] into) throws IOException {
        if (position + into.length > channel.size()) {
            throw new EOFException("byte " + (position + into.length) + " is beyond the end");
        }
        int done = 0;
        while (done < into.length) {
            int within = (int) (position % BLOCK);
            int part = Math.min(into.length - done, BLOCK - within);
            System.arraycopy(block(position / BLOCK), within, into, done, part);
            done += part;
            position += part;
        }
    }

    @Override
    public void readFully(ByteBuffer into) throws IOException {
        into.put(next(into.remaining()));
    }

    @Override
    public void readFully(long[] into) throws IOException {
        next(Math.multiplyExact(into.length, Long.BYTES)).asLongBuffer().get(into);
    }

    @Override
    public void read(int[] into, int offset, int count) throws IOException {
        next(Math.multiplyExact(count, Integer.BYTES)).asIntBuffer().get(into, offset, count);
    }

    @Override
    public void read(float[] into, int offset, int count) throws IOException {
        next(Math.multiplyExact(count, Float.BYTES)).asFloatBuffer().get(into, offset, count);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
