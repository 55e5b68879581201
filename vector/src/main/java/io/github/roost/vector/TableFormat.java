package io.github.roost.vector;

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
 * The formats of saved tables, identified by the first eight bytes of the file, which are ASCII. Programs use them to find the format of a
 * file; an index uses them to name the format of a file that it cannot open.
 */
public enum TableFormat {
    /** A table saved by {@code HnswTable.save}. */
    HNSW("ROOSTHNW", "an HNSW table", "HnswTable.open"),
    /** A table saved by {@code LiveTable.save}. */
    LIVE_HNSW("ROOSTLIV", "a live HNSW table", "LiveTable.open"),
    /** A table saved by {@code IvfTable.save}. */
    IVF("ROSTIVF1", "an IVF table", "IvfTable.open"),
    /** A table built by {@code DiskTable}. */
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

    /** {@return the first eight bytes of a file of this format, as a little-endian number} */
    public long magic() {
        return magic;
    }

    /**
     * Returns the format of a file.
     *
     * @param file the file to check
     * @return its format, or empty if it is not a saved table
     * @throws IOException if the file cannot be read, is a folder, or does not exist
     */
    public static Optional<TableFormat> of(Path file) throws IOException {
        try (FileChannel channel = open(file)) {
            ByteBuffer head = ByteBuffer.allocate(MAGIC_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            while (head.hasRemaining() && channel.read(head) >= 0) {
                // A read may return fewer bytes than remain.
            }
            return head.hasRemaining() ? Optional.empty() : of(head.getLong(0));
        }
    }

    private static Optional<TableFormat> of(long magic) {
        return Arrays.stream(values()).filter(format -> format.magic == magic).findFirst();
    }

    /**
     * Opens a table's file for reading.
     *
     * @param file the file to open
     * @return a channel at its beginning
     * @throws NoSuchFileException if it does not exist
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
     * @param file the file, named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws TableFileException if the file is of another format, whose opener the message names, or is not a saved table
     */
    public void require(Path file, long found) throws TableFileException {
        if (found != magic) {
            throw new TableFileException(file, 0, mismatch(found));
        }
    }

    /**
     * Requires that a file is not of another format; does not report first bytes of no known format, for callers that report this damage
     * otherwise.
     *
     * @param file the file, named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws TableFileException if the file is of another format, whose opener the message names
     */
    public void requireNoOther(Path file, long found) throws TableFileException {
        if (of(found).isPresent()) {
            require(file, found);
        }
    }

    /**
     * Returns the part of a message that says what a file is instead of this format.
     *
     * @param found the first eight bytes of the file, as a little-endian number, different from {@link #magic}
     * @return the end of a sentence that begins with the file's name
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
