package io.github.roost.index.disk.format;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Folders of tables. Stateless. */
public final class Folders {
    private Folders() {}

    /** Creates an empty file if there is none; false in a folder that does not exist: tests have files in no folder. */
    public static boolean create(Path file) throws IOException {
        if (Files.exists(file)) {
            return true;
        }
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            return false;
        }
        try {
            Files.createFile(file);
        } catch (FileAlreadyExistsException anotherWasFirst) {
            return true;
        }
        return true;
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
