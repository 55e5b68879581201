package io.github.roost.documents.file;

import io.github.roost.vector.file.HeldFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import org.h2.store.fs.FileBase;
import org.jspecify.annotations.Nullable;

/**
 * A file for MVStore that an interrupt of a reading thread does not close, as it closes a channel of the JDK, and that is locked whatever
 * its name is. Thread-safe: several descriptors read at once, each for one thread at a time.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // each descriptor is a lock of its own
final class SteadyFile extends FileBase {
    private static final int READERS = 8;

    private final Path path;
    private final RandomAccessFile writer;
    private final RandomAccessFile[] readers = new RandomAccessFile[READERS];
    /** Given back with the lock, or with this file. */
    private volatile @Nullable HeldFile held;

    SteadyFile(Path path, String mode) throws IOException {
        this.path = path;
        this.writer = new RandomAccessFile(path.toFile(), mode);
        try {
            for (int i = 0; i < READERS; i++) {
                readers[i] = new RandomAccessFile(path.toFile(), "r");
            }
        } catch (IOException failed) {
            implCloseChannel();
            throw failed;
        }
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        RandomAccessFile reader = readers[(int) Thread.currentThread().threadId() & READERS - 1];
        byte[] bytes = target.hasArray() ? target.array() : new byte[target.remaining()];
        int offset = target.hasArray() ? target.arrayOffset() + target.position() : 0;
        int count;
        synchronized (reader) {
            reader.seek(position);
            count = reader.read(bytes, offset, target.remaining());
        }
        if (count > 0 && target.hasArray()) {
            target.position(target.position() + count);
        } else if (count > 0) {
            target.put(bytes, 0, count);
        }
        return count;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        int count = source.remaining();
        byte[] bytes = source.hasArray() ? source.array() : new byte[count];
        int offset = source.hasArray() ? source.arrayOffset() + source.position() : 0;
        if (source.hasArray()) {
            source.position(source.limit());
        } else {
            source.get(bytes);
        }
        synchronized (writer) {
            writer.seek(position);
            writer.write(bytes, offset, count);
        }
        return count;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        synchronized (writer) {
            long position = writer.getFilePointer();
            int count = read(target, position);
            writer.seek(position + Math.max(count, 0));
            return count;
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        synchronized (writer) {
            return write(source, writer.getFilePointer());
        }
    }

    @Override
    public long position() throws IOException {
        synchronized (writer) {
            return writer.getFilePointer();
        }
    }

    @Override
    public FileChannel position(long position) throws IOException {
        synchronized (writer) {
            writer.seek(position);
        }
        return this;
    }

    @Override
    public long size() throws IOException {
        return writer.length();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        synchronized (writer) {
            if (size < writer.length()) {
                writer.setLength(size);
            }
        }
        return this;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        writer.getFD().sync();
    }

    @Override
    public @Nullable FileLock tryLock(long position, long size, boolean shared) throws IOException {
        HeldFile taken = HeldFile.toChange(path);
        if (taken == null) {
            return null;
        }
        held = taken;
        return new Lock(this, taken);
    }

    @Override
    public String toString() {
        return path.toString();
    }

    @Override
    protected void implCloseChannel() throws IOException {
        HeldFile taken = held;
        if (taken != null) {
            taken.close();
        }
        writer.close();
        for (RandomAccessFile reader : readers) {
            if (reader != null) {
                reader.close();
            }
        }
    }

    /** What MVStore releases at its end. */
    private static final class Lock extends FileLock {
        private final HeldFile held;
        private volatile boolean isValid = true;

        Lock(FileChannel file, HeldFile held) {
            super(file, 0, Long.MAX_VALUE, false);
            this.held = held;
        }

        @Override
        public boolean isValid() {
            return isValid;
        }

        @Override
        public void release() throws IOException {
            isValid = false;
            held.close();
        }
    }
}
