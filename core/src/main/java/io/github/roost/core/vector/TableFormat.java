package io.github.roost.core.vector;

import io.github.roost.core.TableFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * The formats of saved tables, told apart by the first eight bytes of a file, which are ASCII. By these a program finds out
 * what a file is, and an index names the format of a file that is not its own.
 */
public enum TableFormat {
    /** A table of {@code HnswTable.save}. */
    HNSW("ROOSTHNW", "an HNSW table", "HnswTable.open"),
    /** A table of {@code LiveTable.save}. */
    LIVE_HNSW("ROOSTLIV", "a live HNSW table", "LiveTable.open"),
    /** A table of {@code IvfTable.save}. */
    IVF("ROSTIVF1", "an IVF table", "IvfTable.open"),
    /** A table of {@code DiskTable}'s build. */
    DISK("ROOSTDSK", "a table on disk", "DiskTable.open"),
    /** A version of a table of rows by keys, in the folder of {@code Table.open}. */
    VERSION("ROSTTABL", "a version of a table of rows by keys", "Table.open of its folder"),
    /** The region of a pool of {@code PartitionedIndex}. */
    POOL("ROOSTRMP", "a pool of remote memory", "RemoteTable.open");

    private static final int MAGIC_BYTES = Long.BYTES;

    private final long magic;
    private final String title;
    private final String opener;

    TableFormat(String magic, String title, String opener) {
        this.magic = ByteBuffer.wrap(magic.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
        this.title = title;
        this.opener = opener;
    }

    /** {@return the first eight bytes of such a file, as a little-endian number} */
    public long magic() {
        return magic;
    }

    /**
     * Returns the format of a file.
     *
     * @param file to look at
     * @return its format, or empty if it is no saved table
     * @throws IOException if it cannot be read, is a folder, or is not there
     */
    public static Optional<TableFormat> of(Path file) throws IOException {
        try (FileChannel channel = open(file)) {
            ByteBuffer head = ByteBuffer.allocate(MAGIC_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            while (head.hasRemaining() && channel.read(head) >= 0) {
                // A channel may give less than there is.
            }
            return head.hasRemaining() ? Optional.empty() : of(head.getLong(0));
        }
    }

    private static Optional<TableFormat> of(long magic) {
        return Arrays.stream(values()).filter(format -> format.magic == magic).findFirst();
    }

    /**
     * Opens a file of a table for reading.
     *
     * @param file to open
     * @return a channel at its beginning
     * @throws NoSuchFileException if it is not there
     * @throws TableFileException if it is a folder
     * @throws IOException if it cannot be opened
     */
    public static FileChannel open(Path file) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        if (Files.isDirectory(file)) {
            throw new TableFileException(file, 0, "is a folder, not a saved table");
        }
        return FileChannel.open(file, StandardOpenOption.READ);
    }

    /**
     * Requires that a file is of this format.
     *
     * @param file named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws TableFileException if the file is of another format, whose opener the message names, or is no saved table
     */
    public void require(Path file, long found) throws TableFileException {
        if (found != magic) {
            throw new TableFileException(file, 0, mismatch(found));
        }
    }

    /**
     * Requires that a file is not of another format, where damage to the first bytes is reported otherwise.
     *
     * @param file named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws TableFileException if the file is of another format, whose opener the message names
     */
    public void requireNoOther(Path file, long found) throws TableFileException {
        if (of(found).isPresent()) {
            require(file, found);
        }
    }

    /**
     * Says what something is that is not of this format.
     *
     * @param found its first eight bytes, as a little-endian number, which are not those of this format
     * @return continues a sentence that begins with its name
     */
    public String mismatch(long found) {
        return of(found)
                .map(other -> "is " + other.title + ", not " + title + ": use " + other.opener)
                .orElseGet(() -> "is not " + title
                        + ", nor another saved table of Roost: it begins with %016x, "
                                .formatted(Long.reverseBytes(found))
                        + title + " with %016x".formatted(Long.reverseBytes(magic)));
    }
}
