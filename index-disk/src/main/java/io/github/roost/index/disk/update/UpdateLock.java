package io.github.roost.index.disk.update;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The right to update a table, held by one opener at a time: a system lock on a file next to the table, which is released when the
 * process ends in any way. The file stays: if it were deleted, two openers could each lock a different file of its name.
 *
 * <p>On Linux such a lock belongs to the process, and is released when any descriptor of the file is closed. So it has a file of its
 * own, and within the process only an opener that has entered the table's path in {@link #HERE} opens that.
 */
public final class UpdateLock implements AutoCloseable {
    private static final Set<Path> HERE = ConcurrentHashMap.newKeySet();

    private final Path table;
    /** Null if other processes are not locked out. */
    private final @Nullable FileChannel channel;

    private UpdateLock(Path table, @Nullable FileChannel channel) {
        this.table = table;
        this.channel = channel;
    }

    public static Path pathOf(Path table) {
        return table.resolveSibling(table.getFileName() + ".lock");
    }

    /**
     * Takes the lock.
     *
     * @param table the table's file
     * @return to be closed; null if the file system has no such file, as with a test's simulated device
     * @throws IOException if another opener has it; the message names the table
     */
    public static @Nullable UpdateLock take(Path table) throws IOException {
        if (!Files.exists(table)) {
            return null;
        }
        Path real = table.toRealPath();
        if (!HERE.add(real)) {
            throw new IOException(table + " is open for updates already, in this process");
        }
        FileChannel channel = null;
        try {
            channel = FileChannel.open(pathOf(real), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new IOException(
                        table + " is open for updates already, in another process that holds " + pathOf(real));
            }
            return new UpdateLock(real, channel);
        } catch (Throwable failed) {
            if (channel != null) {
                channel.close();
            }
            HERE.remove(real);
            throw failed;
        }
    }

    /**
     * Takes the lock within this process alone, for a build, which leaves nothing beside its file.
     *
     * @param table the table's file
     * @return to be closed once; null if the file system has no such file
     * @throws IOException if another opener or build has it; the message names the table
     */
    public static @Nullable UpdateLock takeHere(Path table) throws IOException {
        if (!Files.exists(table)) {
            return null;
        }
        Path real = table.toRealPath();
        if (!HERE.add(real)) {
            throw new IOException(table + " is being built, or open for updates, already");
        }
        return new UpdateLock(real, null);
    }

    /** Releases the lock; idempotent if {@link #take} took it. */
    @Override
    public void close() throws IOException {
        if (channel == null) {
            HERE.remove(table);
        } else if (channel.isOpen()) {
            try {
                channel.close();
            } finally {
                HERE.remove(table);
            }
        }
    }
}
