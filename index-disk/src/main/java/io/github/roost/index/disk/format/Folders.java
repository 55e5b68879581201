package io.github.roost.index.disk.format;

import io.github.roost.vector.file.HeldFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Folders of tables. Stateless. */
public final class Folders {
    private Folders() {}

    /**
     * Takes the right to change a table's file or log, which is created empty if it is missing.
     *
     * @return to be closed; null in a folder that does not exist: tests have files in no folder
     * @throws IOException if another opener has that right; the message names the file
     */
    public static @Nullable HeldFile hold(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            return null;
        }
        HeldFile held = HeldFile.toFill(file);
        if (held == null) {
            throw new IOException(
                    file + " is being built or replaced, or open for updates already, in this process or another");
        }
        return held;
    }

    /**
     * Opens a table's file to read checkpoints of it, which are kept one by one.
     *
     * @return to be closed; null in a folder that does not exist: tests have files in no folder
     * @throws IOException if it cannot be opened
     */
    public static @Nullable HeldFile read(Path file) throws IOException {
        return Files.exists(file) ? HeldFile.toRead(file) : null;
    }

    /** Makes the entry of a file in its folder durable: a new file is lost with its entry, even if its content was synced. */
    public static void sync(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        // Tests have files in no folder.
        if (folder == null || !Files.isDirectory(folder)) {
            return;
        }
        // An interrupt closes a channel.
        boolean interrupted = Thread.interrupted();
        try (FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
            entries.force(true);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
