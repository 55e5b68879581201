package io.github.roost.examples.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A result file that is proven to be writable before the work, and that is whole or not there after it: written beside
 * its place and moved there. Not thread-safe.
 */
final class OutputFile implements AutoCloseable {
    private final Path place;
    private final @Nullable Path draft;

    private OutputFile(Path place, @Nullable Path draft) {
        this.place = place;
        this.draft = draft;
    }

    /** Writes the whole result to a path. */
    @FunctionalInterface
    interface Content {
        void writeTo(Path file) throws IOException;
    }

    /**
     * Prepares to write a file; an existing one stays as it is until {@link #write}.
     *
     * @param option the option that named it, for messages
     * @throws CommandFailure if the file cannot be written
     */
    static OutputFile prepare(String option, Path file) {
        if (Files.isDirectory(file)) {
            throw new CommandFailure(option + " " + file + " is a directory, not a file");
        }
        if (Files.exists(file) && !Files.isWritable(file)) {
            throw new CommandFailure(option + " " + file + " is not writable");
        }
        try {
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                return new OutputFile(file, null);
            }
            Path place = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
            Path folder = place.getParent();
            if (folder == null || !Files.isDirectory(folder)) {
                throw new CommandFailure(option + " " + file + " cannot be written: no directory " + folder);
            }
            Path draft = Files.createTempFile(folder, ".roost-", ".part", attributes(place));
            draft.toFile().deleteOnExit();
            return new OutputFile(place, draft);
        } catch (IOException e) {
            throw new CommandFailure(option + " " + file + " cannot be written: " + e);
        }
    }

    /** Those of the file that is replaced; else what the system gives a new file is left to {@link Content}. */
    private static FileAttribute<?>[] attributes(Path place) throws IOException {
        boolean posix = place.getFileSystem().supportedFileAttributeViews().contains("posix");
        if (!posix) {
            return new FileAttribute<?>[0];
        }
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(
                    Files.exists(place)
                            ? Files.getPosixFilePermissions(place)
                            : PosixFilePermissions.fromString("rw-r--r--"))
        };
    }

    /** Writes the content and puts it in place. */
    void write(Content content) throws IOException {
        if (draft == null) {
            content.writeTo(place);
            return;
        }
        content.writeTo(draft);
        Files.move(draft, place, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Leaves nothing behind of a file that was not written. */
    @Override
    public void close() throws IOException {
        if (draft != null) {
            Files.deleteIfExists(draft);
        }
    }
}
