package io.github.roost.cli;

import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A result file that is checked to be writable before the work, and written atomically: to a temporary file in the same folder, then moved. Not
 * thread-safe.
 */
final class OutputFile implements AutoCloseable {
    /** As the user has named it. */
    private final Path asked;

    private final Path place;
    private final @Nullable Path draft;

    private OutputFile(Path asked, Path place, @Nullable Path draft) {
        this.asked = asked;
        this.place = place;
        this.draft = draft;
    }

    /** Writes the whole result to a path. */
    @FunctionalInterface
    interface Content {
        void writeTo(Path file) throws IOException, InterruptedException;
    }

    /**
     * Prepares to write a file; an existing one is unchanged until {@link #write}.
     *
     * @param option the option with the file name, for messages
     * @throws CommandFailure if the file cannot be written
     */
    static OutputFile prepare(String option, Path file) {
        return prepare(option, file, false);
    }

    /** As {@link #prepare(String, Path)}, but refuses pipes and devices: a table is not written from its begin to its end. */
    static OutputFile prepareTable(String option, Path file) {
        return prepare(option, file, true);
    }

    private static OutputFile prepare(String option, Path file, boolean onlyRegular) {
        if (Files.isDirectory(file)) {
            throw new CommandFailure(option + " " + file + " is a directory, not a file");
        }
        if (Files.exists(file) && !Files.isWritable(file)) {
            throw new CommandFailure(option + " " + file + " is not writable");
        }
        try {
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                if (onlyRegular) {
                    throw new CommandFailure(option + " " + file + " is a pipe or a device, not a file");
                }
                return new OutputFile(file, file, null);
            }
            Path place = place(option, file);
            Path folder = place.getParent();
            if (folder == null || !Files.isDirectory(folder)) {
                throw new CommandFailure(option + " " + file + " cannot be written: no directory " + folder);
            }
            Path draft = Files.createTempFile(folder, ".roost-", ".part", attributes(place));
            draft.toFile().deleteOnExit();
            return new OutputFile(file, place, draft);
        } catch (IOException e) {
            // The file that it names is the temporary one.
            String why = e instanceof FileSystemException refused ? Complaint.reason(refused) : Complaint.of(e);
            throw new CommandFailure(option + " " + file + " cannot be written: " + why);
        }
    }

    /** Refused before the work: it would be refused at the end too. */
    private static Path place(String option, Path file) {
        try {
            return WholeFile.requireReplaceable(file);
        } catch (IOException refused) {
            throw new CommandFailure(option + " " + Complaint.of(refused));
        }
    }

    /**
     * Refuses a file that the command also reads.
     *
     * @param option the option with the file name, for messages
     * @param input the file to read; may be null or missing
     * @throws CommandFailure if both are the same file
     */
    static void requireOther(String option, Path file, String inputOption, @Nullable Path input) throws IOException {
        if (input != null && Files.exists(file) && Files.exists(input) && Files.isSameFile(file, input)) {
            throw new CommandFailure(
                    option + " " + file + " is the file of " + inputOption + ", which it would overwrite");
        }
    }

    /** Permissions of the file to be replaced, or rw-r--r-- for a new one; none on file systems without POSIX permissions. */
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

    /**
     * Writes the content and puts it in place.
     *
     * @throws IOException if it cannot be written; the message names the file, not the temporary one
     */
    void write(Content content) throws IOException, InterruptedException {
        try {
            if (draft == null) {
                content.writeTo(place);
            } else {
                content.writeTo(draft);
                WholeFile.moveInto(asked, draft);
            }
        } catch (IOException | UncheckedIOException failed) {
            if (Complaint.told(failed) instanceof FileFormatException input) {
                throw input;
            }
            String what = Complaint.of(failed);
            String named = draft == null ? what : what.replace(draft.toString(), asked.toString());
            throw new IOException(
                    named.contains(asked.toString()) ? named : asked + " cannot be written: " + named, failed);
        }
    }

    /** Deletes the temporary file if the result was not written. */
    @Override
    public void close() throws IOException {
        if (draft != null) {
            Files.deleteIfExists(draft);
        }
    }
}
