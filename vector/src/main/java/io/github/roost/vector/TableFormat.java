package io.github.roost.vector;

import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.TableFormats;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * A format of saved tables, identified by the first eight bytes of the file, which are ASCII. Programs use it to find the format of a file,
 * and compare it with a constant such as {@code HnswTable.FORMAT}; an index uses it to name the format of a file that it cannot open. Only
 * the formats of modules that the program has are known. Immutable.
 *
 * @param head the first eight bytes of the file
 * @param title what a file of this format is, with its article, as in "an HNSW table"
 * @param opener what opens a file of this format, as in "HnswTable.open"
 */
public record TableFormat(String head, String title, String opener) {
    private static final int MAGIC_BYTES = Long.BYTES;

    /** Checks the first bytes. */
    public TableFormat {
        Objects.requireNonNull(title, "title must not be null");
        Objects.requireNonNull(opener, "opener must not be null");
        if (head.length() != MAGIC_BYTES
                || !StandardCharsets.US_ASCII.newEncoder().canEncode(head)) {
            throw new IllegalArgumentException("head must be " + MAGIC_BYTES + " ASCII characters, got " + head);
        }
    }

    /** {@return the first eight bytes of a file of this format, as a little-endian number} */
    public long magic() {
        return ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    /**
     * Returns the format of a file.
     *
     * @param file the file to check
     * @return its format, or empty if it is not a saved table of a module that the program has
     * @throws IOException if the file cannot be read, is not a regular one, or does not exist
     * @throws IllegalStateException if two known formats begin with the same bytes
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
        return Optional.ofNullable(known(ServiceLoader.load(TableFormats.class, TableFormat.class.getClassLoader()))
                .get(magic));
    }

    /** The formats of all providers, by their magic numbers. */
    static Map<Long, TableFormat> known(Iterable<TableFormats> providers) {
        Map<Long, TableFormat> known = new HashMap<>();
        for (TableFormats provider : providers) {
            for (TableFormat format : provider.formats()) {
                TableFormat other = known.put(format.magic(), format);
                if (other != null) {
                    throw new IllegalStateException(other + " and " + format + " begin with the same bytes");
                }
            }
        }
        return known;
    }

    /**
     * Opens a table's file for reading.
     *
     * @param file the file to open
     * @return a channel at its beginning
     * @throws NoSuchFileException if it does not exist
     * @throws FileFormatException if it is a folder, a named pipe or a device
     * @throws IOException if it cannot be opened
     */
    public static FileChannel open(Path file) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        new FileChecks(file).requireRegular();
        return FileChannel.open(file, StandardOpenOption.READ);
    }

    /**
     * Requires that a file is of this format.
     *
     * @param file the file, named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws FileFormatException if the file is of another format, whose opener the message names, or is not a saved table
     */
    public void require(Path file, long found) throws FileFormatException {
        if (found != magic()) {
            throw new FileFormatException(file, 0, mismatch(found));
        }
    }

    /**
     * Requires that a file is not of another format; does not report first bytes of no known format, for callers that report this damage
     * otherwise.
     *
     * @param file the file, named in messages
     * @param found the first eight bytes of the file, as a little-endian number
     * @throws FileFormatException if the file is of another format, whose opener the message names
     */
    public void requireNoOther(Path file, long found) throws FileFormatException {
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
                        + ": it begins with %016x, ".formatted(Long.reverseBytes(found))
                        + title + " with %016x".formatted(Long.reverseBytes(magic())));
    }
}
