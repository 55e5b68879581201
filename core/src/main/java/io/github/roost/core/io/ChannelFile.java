package io.github.roost.core.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file opened by the JDK's {@link FileChannel}, with direct I/O if the file system supports it. Thread-safe. */
final class ChannelFile implements BlockDevice.DeviceFile {
    /** {@code com.sun.nio.file.ExtendedOpenOption.DIRECT}, by reflection: the compiler warns of every use of its type. */
    private static final @Nullable OpenOption DIRECT = direct();

    private final FileChannel channel;
    private final boolean direct;

    private ChannelFile(FileChannel channel, boolean direct) {
        this.channel = channel;
        this.direct = direct;
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
                return new ChannelFile(FileChannel.open(file, direct), true);
            } catch (UnsupportedOperationException | IOException refused) {
                // Some file systems lack direct I/O; any other fault makes the second attempt fail too.
            }
        }
        return new ChannelFile(FileChannel.open(file, options), false);
    }

    @Override
    public int read(long offset, MemorySegment into) throws IOException {
        return channel.read(into.asByteBuffer(), offset);
    }

    @Override
    public int write(long offset, MemorySegment from) throws IOException {
        return channel.write(from.asByteBuffer(), offset);
    }

    @Override
    public void sync() throws IOException {
        channel.force(true);
    }

    @Override
    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public boolean isDirect() {
        return direct;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
