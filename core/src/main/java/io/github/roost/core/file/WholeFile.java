package io.github.roost.core.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.UUID;

/** Writes files of tables so that, whatever happens meanwhile, the old file or the new one is there, whole. Stateless. */
public final class WholeFile {
    /** Small enough that a channel does not copy the whole of a large segment of the heap or of memory at once. */
    private static final long PIECE = 64L << 20;

    private WholeFile() {}

    /** Writes what a file is to hold. */
    @FunctionalInterface
    public interface Content {
        /**
         * Writes all of it, from the channel's position on.
         *
         * @param channel of the file
         * @throws IOException if it cannot be written
         */
        void writeTo(FileChannel channel) throws IOException;
    }

    /**
     * Writes a file, replacing one of that name: under a temporary name beside it, synced, moved into place, and the folder
     * synced. Who may read it is as the process's umask says. A writer that is killed may leave the temporary file behind.
     *
     * @param file to write or replace
     * @param content writes what is to be in it
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    public static void replace(Path file, Content content) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        Path place = file.toAbsolutePath();
        Path folder = place.getParent();
        if (folder == null) {
            throw new IOException(file + " is not the name of a file");
        }
        // Opened first: what can fail must fail while the old file is in place.
        try (FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
            Path draft = folder.resolve("." + place.getFileName() + "-" + UUID.randomUUID() + ".part");
            try {
                try (FileChannel channel =
                        FileChannel.open(draft, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
                    write(content, channel, place);
                }
                move(draft, place);
            } finally {
                Files.deleteIfExists(draft);
            }
            entries.force(true);
        }
    }

    private static void write(Content content, FileChannel channel, Path place) throws IOException {
        try {
            content.writeTo(channel);
            channel.force(true);
        } catch (IOException failed) {
            if (failed.getClass() != IOException.class) {
                throw failed;
            }
            // Of a full disk the system says no more than that there is no space.
            throw new IOException(
                    place + " cannot be written, after " + channel.position() + " bytes: " + failed.getMessage(),
                    failed);
        }
    }

    /**
     * Writes all of a buffer, in as many pieces as the channel takes.
     *
     * @param channel to write to, from its position on
     * @param bytes from position to limit
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
     * @param channel to write to, from its position on
     * @param bytes of any length
     * @throws IOException if they cannot be written
     */
    public static void writeAll(WritableByteChannel channel, MemorySegment bytes) throws IOException {
        for (long at = 0; at < bytes.byteSize(); at += PIECE) {
            writeAll(
                    channel,
                    bytes.asSlice(at, Math.min(PIECE, bytes.byteSize() - at)).asByteBuffer());
        }
    }

    private static void move(Path draft, Path place) throws IOException {
        try {
            Files.move(draft, place, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new IOException(place + " is on a file system that cannot replace a file in one step", e);
        }
    }
}
