package io.github.roost.vector.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Atomic replacement of tables' files: at any time the old or the new file is there, whole. Stateless. */
public final class WholeFile {
    /** A channel may copy what it is given into a buffer of the same size: pieces limit that copy. */
    private static final long PIECE = 64L << 20;

    private WholeFile() {}

    /** Writes the content of a file. */
    @FunctionalInterface
    public interface Content {
        /**
         * Writes all of the content at the channel's position.
         *
         * @param channel the channel of the file
         * @throws IOException if it cannot be written
         */
        void writeTo(FileChannel channel) throws IOException;
    }

    /**
     * Writes a file, or replaces it: writes a temporary file in the same folder, syncs it, moves it into place, and syncs the folder. The
     * process's umask determines its permissions. A process that is killed may leave the temporary file behind. A symbolic link stays:
     * the file that it points to is replaced.
     *
     * @param file the file to write or replace; not a folder, a device, a link to nothing, or a file that a table has open for updates or
     *     shares with other processes
     * @param content writes the content of the file
     * @throws IOException if the file cannot be written, with its name, not the temporary one's; the old file is unchanged, unless only
     *     the last sync failed
     */
    public static void replace(Path file, Content content) throws IOException {
        Path place = place(file);
        Path folder = folder(file, place);
        // Opened first, so that a failure leaves the old file in place.
        try (HeldFile held = hold(place);
                FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
            Path draft = folder.resolve("." + place.getFileName() + "-" + UUID.randomUUID() + ".part");
            FileChannel created = create(draft, place);
            try {
                try (FileChannel channel = created) {
                    write(content, channel, place);
                }
                move(draft, place, held);
            } finally {
                Files.deleteIfExists(draft);
            }
            entries.force(true);
        }
    }

    /**
     * Refuses a file that {@link #replace} or {@link #moveInto} would refuse now.
     *
     * @param file the file to write or replace
     * @return where it is, behind all links
     * @throws IOException if it cannot be replaced
     */
    public static Path requireReplaceable(Path file) throws IOException {
        Path place = place(file);
        var _ = folder(file, place);
        try (HeldFile _ = hold(place)) {
            return place;
        }
    }

    /**
     * Like {@link #replace}, with a file that another writer has finished: syncs it, moves it into place, and syncs the folder.
     *
     * @param file the file to write or replace
     * @param draft the finished file, in the folder of {@link #requireReplaceable}'s result
     * @throws IOException if the file cannot be replaced; then both files are unchanged, unless only the last sync failed
     */
    public static void moveInto(Path file, Path draft) throws IOException {
        Path place = place(file);
        try (HeldFile held = hold(place);
                FileChannel entries = FileChannel.open(folder(file, place), StandardOpenOption.READ)) {
            try (FileChannel finished = FileChannel.open(draft, StandardOpenOption.WRITE)) {
                finished.force(true);
            }
            move(draft, place, held);
            entries.force(true);
        }
    }

    /**
     * Refuses a target that is one of a table's own files, also where no lock tells.
     *
     * @param file the file to replace, which may be missing
     * @param own files of the table, each of which may be missing
     * @throws IOException if it is one of them
     */
    public static void requireOther(Path file, List<Path> own) throws IOException {
        for (Path each : own) {
            if (Files.exists(file) && Files.exists(each) && Files.isSameFile(file, each)) {
                throw HeldFile.inUse(file);
            }
        }
    }

    private static Path place(Path file) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        if (!Files.isSymbolicLink(file)) {
            return file.toAbsolutePath();
        }
        if (!Files.exists(file)) {
            throw new IOException(file + " is a link to a file that does not exist");
        }
        return file.toRealPath();
    }

    private static Path folder(Path file, Path place) throws IOException {
        Path folder = place.getParent();
        if (folder == null || Files.isDirectory(place)) {
            throw new IOException(file + " is a folder, not the name of a file");
        }
        if (Files.exists(place) && !Files.isRegularFile(place)) {
            throw new IOException(file + " is not a regular file");
        }
        return folder;
    }

    private static @Nullable HeldFile hold(Path place) throws IOException {
        return Files.exists(place) ? HeldFile.toReplace(place) : null;
    }

    private static FileChannel create(Path draft, Path place) throws IOException {
        try {
            return FileChannel.open(draft, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        } catch (FileSystemException failed) {
            throw renamed(failed, place);
        }
    }

    private static FileSystemException renamed(FileSystemException failed, Path place) {
        FileSystemException named = failed instanceof AccessDeniedException
                ? new AccessDeniedException(place.toString(), null, failed.getReason())
                : new FileSystemException(place.toString(), null, failed.getReason());
        named.initCause(failed);
        return named;
    }

    private static void write(Content content, FileChannel channel, Path place) throws IOException {
        try {
            content.writeTo(channel);
            channel.force(true);
        } catch (IOException failed) {
            if (failed.getClass() != IOException.class) {
                throw failed;
            }
            // The system's message for a full disk names neither the file nor the size.
            throw new IOException(
                    place + " cannot be written, after " + channel.position() + " bytes: " + failed.getMessage(),
                    failed);
        }
    }

    /**
     * Writes all of a buffer, with as many writes as the channel needs.
     *
     * @param channel the channel to write to, at its position
     * @param bytes written from position to limit
     * @throws IOException if they cannot be written
     */
    public static void writeAll(WritableByteChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /**
     * Writes all bytes of a segment.
     *
     * @param channel the channel to write to, at its position
     * @param bytes a segment of any length
     * @throws IOException if they cannot be written
     */
    public static void writeAll(WritableByteChannel channel, MemorySegment bytes) throws IOException {
        for (long at = 0; at < bytes.byteSize(); at += PIECE) {
            writeAll(
                    channel,
                    bytes.asSlice(at, Math.min(PIECE, bytes.byteSize() - at)).asByteBuffer());
        }
    }

    /** @param held the file in the place; null if there was none */
    private static void move(Path draft, Path place, @Nullable HeldFile held) throws IOException {
        // Meanwhile a table may have been built there and opened.
        try (HeldFile _ = held == null ? hold(place) : null) {
            Files.move(draft, place, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new IOException(place + " is on a file system that cannot replace a file in one step", e);
        } catch (FileSystemException failed) {
            throw renamed(failed, place);
        }
    }
}
