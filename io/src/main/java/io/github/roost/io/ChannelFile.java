package io.github.roost.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file opened by the JDK's {@link FileChannel}, with direct I/O if the file system supports it. Thread-safe.
 *
 * <p>An interrupted thread closes the channel that it uses, for all threads. So a call runs with its thread's interrupt status cleared, and sets
 * it again; and if an interrupt during a call closes the channel, the file is opened again, and each call that found it closed is repeated.
 * Syncs have a channel of their own: an interrupt hides the result of a sync, so the interrupted sync fails, but no other thread's.
 */
final class ChannelFile implements BlockDevice.DeviceFile {
    /** {@code com.sun.nio.file.ExtendedOpenOption.DIRECT}, by reflection: the compiler warns of every use of its type. */
    private static final @Nullable OpenOption DIRECT = direct();

    private final Path path;
    /** Options to open it again, without creating it. */
    private final Set<OpenOption> options;

    private final boolean direct;
    /** The identity of the file, if the file system has one: the path may lead to another file later. */
    private final @Nullable Object key;

    private final FileChannel syncs;
    private volatile FileChannel channel;

    private ChannelFile(Path path, Set<OpenOption> options, boolean direct) throws IOException {
        this.path = path;
        this.options = new HashSet<>(options);
        this.options.remove(StandardOpenOption.CREATE);
        this.direct = direct;
        this.channel = FileChannel.open(path, options);
        try {
            this.key = keyOf(path);
            this.syncs = FileChannel.open(path, this.options);
        } catch (Throwable failed) {
            channel.close();
            throw failed;
        }
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private static @Nullable OpenOption direct() {
        try {
            for (Object option :
                    Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
                if (option.toString().equals("DIRECT")) {
                    return (OpenOption) option;
                }
            }
        } catch (ClassNotFoundException notInThisJdk) {
            // Files are then read through the page cache.
        }
        return null;
    }

    static ChannelFile open(Path file, boolean writable) throws IOException {
        Set<OpenOption> options = new HashSet<>(Set.of(StandardOpenOption.READ));
        if (writable) {
            options.addAll(Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE));
        }
        if (DIRECT != null) {
            Set<OpenOption> direct = new HashSet<>(options);
            direct.add(DIRECT);
            try {
                return new ChannelFile(file, direct, true);
            } catch (UnsupportedOperationException | IOException refused) {
                // Some file systems lack direct I/O; any other fault makes the second attempt fail too.
            }
        }
        return new ChannelFile(file, options, false);
    }

    /** A call of a channel, which may be repeated. */
    @FunctionalInterface
    private interface Call<R> {
        R on(FileChannel channel) throws IOException;
    }

    private <R> R uninterrupted(Call<R> call) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                FileChannel used = channel;
                try {
                    return call.on(used);
                } catch (ClosedChannelException closed) {
                    // By an interrupt of this or another thread: close() is called when the file is not in use.
                    interrupted |= Thread.interrupted();
                    openAgain(used);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void openAgain(FileChannel closed) throws IOException {
        if (channel != closed) {
            return;
        }
        FileChannel opened = FileChannel.open(path, options);
        if (!Objects.equals(key, keyOf(path))) {
            opened.close();
            throw new IOException("an interrupt closed the file, and " + path + " is another file by now");
        }
        channel = opened;
    }

    @Override
    public int read(long offset, MemorySegment into) throws IOException {
        return uninterrupted(on -> on.read(into.asByteBuffer(), offset));
    }

    @Override
    public int write(long offset, MemorySegment from) throws IOException {
        return uninterrupted(on -> on.write(from.asByteBuffer(), offset));
    }

    @Override
    public void sync() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            syncs.force(true);
        } catch (ClosedChannelException closed) {
            throw new IOException("its thread was interrupted", closed);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public long size() throws IOException {
        return uninterrupted(FileChannel::size);
    }

    @Override
    public boolean isDirect() {
        return direct;
    }

    @Override
    public void close() throws IOException {
        try (syncs) {
            channel.close();
        }
    }
}
