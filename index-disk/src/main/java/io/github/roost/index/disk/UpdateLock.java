package io.github.roost.index.disk;

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
 * The right to update a table, which one opener has at a time: a lock of the system on a file beside the table, which ends with the
 * process, however that ends. The file stays: if it were deleted, two openers could each lock one of its name.
 *
 * <p>On Linux such a lock belongs to the process, and goes when any descriptor of the file is closed. So the file is a file of its own,
 * and within the process it is opened only by who has entered the table's name before.
 */
final class UpdateLock implements AutoCloseable {
    private static final Set<Path> HERE = ConcurrentHashMap.newKeySet();

    private final Path table;
    private final FileChannel channel;

    private UpdateLock(Path table, FileChannel channel) {
        this.table = table;
        this.channel = channel;
    }

    static Path pathOf(Path table) {
        return table.resolveSibling(table.getFileName() + ".lock");
    }

    /**
     * Takes it.
     *
     * @param table its file
     * @return to be closed; null where there is no such file in a file system: a device that a test has made up
     * @throws IOException if another has it, which is said with the table's name
     */
    static @Nullable UpdateLock take(Path table) throws IOException {
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

    /** Gives it back; more than once does nothing. */
    @Override
    public void close() throws IOException {
        if (channel.isOpen()) {
            try {
                channel.close();
            } finally {
                HERE.remove(table);
            }
        }
    }
}
