package io.github.roost.table;

import static io.github.roost.table.Schema.INT;

import io.github.roost.core.TableFileException;
import io.github.roost.core.WholeFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A sealed version as a file, all numbers little-endian:
 *
 * <pre>
 * head     magic, format, bytes of the schema, version, rows, bytes of the values, checksum of all before     64 bytes
 * schema   and its checksum
 * body     in {@link CheckedBlocks}: key and place of each row, 16 bytes; then the values, as they lie in memory
 * </pre>
 *
 * Reading believes nothing: sizes are compared with the file's before memory is allocated, blocks with their checksums, and then every place and
 * row is checked, so that readers need not.
 */
final class VersionFile {
    private static final long MAGIC = 0x4c424154_54534f52L;
    private static final int FORMAT = 1;
    private static final int HEAD_BYTES = 64;
    private static final int MOST_SCHEMA_BYTES = 1 << 20;
    private static final long MOST_ROWS = 1L << 40;
    private static final long MOST_VALUE_BYTES = 1L << 48;
    private static final int ENTRY_BYTES = 2 * Long.BYTES;

    private VersionFile() {}

    private record Head(int schemaBytes, long version, long rows, long valueBytes) {
        long bodyBytes() {
            return rows * ENTRY_BYTES + valueBytes;
        }

        long fileBytes() {
            return HEAD_BYTES + schemaBytes + Integer.BYTES + CheckedBlocks.fileBytes(bodyBytes());
        }
    }

    /** Writes a version, which nobody changes meanwhile; the file is there whole or not at all. */
    static void write(Path file, Version version) throws IOException {
        WholeFile.replace(file, channel -> {
            byte[] schema = version.schema().encode();
            Values values = version.values();
            ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES + schema.length + Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(MAGIC)
                    .putInt(FORMAT)
                    .putInt(schema.length)
                    .putLong(version.number())
                    .putLong(version.index().size())
                    .putLong(values.bytes());
            head.putInt(HEAD_BYTES - Integer.BYTES, checksum(head, 0, HEAD_BYTES - Integer.BYTES));
            head.position(HEAD_BYTES).put(schema).putInt(checksum(head, HEAD_BYTES, schema.length));
            WholeFile.writeAll(channel, head.flip());
            writeBody(new CheckedBlocks(version.number()).new Sink(channel), version);
        });
    }

    private static void writeBody(CheckedBlocks.Sink body, Version version) throws IOException {
        eachRow(version, (key, place) -> {
            body.putLong(key);
            body.putLong(place);
        });
        Values values = version.values();
        for (int i = 0; i < values.chunks().length; i++) {
            body.put(values.chunks()[i], 0, values.usedOf(i));
        }
        body.end();
    }

    private static int checksum(ByteBuffer of, int at, int bytes) {
        CRC32C crc = new CRC32C();
        crc.update(of.slice(at, bytes));
        return (int) crc.getValue();
    }

    /**
     * Reads a version.
     *
     * @throws TableFileException if the file is not a whole, undamaged version of this number
     * @throws OutOfMemoryError if there is no memory for it; nothing is left behind
     */
    static Version read(Path file, long number) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            Head head = readHead(channel, file, number);
            Schema schema = readSchema(channel, file, head.schemaBytes);
            LongTable index = LongTable.builder(head.rows).build();
            Values values = null;
            boolean done = false;
            try {
                values = Values.ofBytes(head.valueBytes);
                Version version = new Version(number, schema, index, values);
                fill(version, new CheckedBlocks(number).new Source(channel, file, head.bodyBytes()), head, file);
                done = true;
                return version;
            } finally {
                if (!done) {
                    index.close();
                    if (values != null) {
                        values.close();
                    }
                }
            }
        }
    }

    private static Head readHead(FileChannel channel, Path file, long number) throws IOException {
        ByteBuffer bytes = read(channel, file, HEAD_BYTES);
        if (bytes.getLong() != MAGIC) {
            throw new TableFileException(file, 0, "is no version of a table");
        }
        int format = bytes.getInt();
        if (format != FORMAT) {
            throw new TableFileException(
                    file, Long.BYTES, "has format " + format + ", of which this release reads only " + FORMAT);
        }
        Head head = new Head(bytes.getInt(), bytes.getLong(), bytes.getLong(), bytes.getLong());
        if (bytes.getInt(HEAD_BYTES - Integer.BYTES) != checksum(bytes, 0, HEAD_BYTES - Integer.BYTES)) {
            throw new TableFileException(file, 0, "is damaged: its head has another checksum");
        }
        if (head.version != number) {
            throw new TableFileException(file, 16, "is version " + head.version + ", not " + number);
        }
        if (head.schemaBytes < 0
                || head.schemaBytes > MOST_SCHEMA_BYTES
                || head.rows < 0
                || head.rows > MOST_ROWS
                || head.valueBytes < 0
                || head.valueBytes > MOST_VALUE_BYTES) {
            throw new TableFileException(file, 12, "says impossible sizes");
        }
        if (channel.size() != head.fileBytes()) {
            throw new TableFileException(
                    file, channel.size(), "has " + channel.size() + " bytes, not the " + head.fileBytes() + " it says");
        }
        return head;
    }

    private static Schema readSchema(FileChannel channel, Path file, int schemaBytes) throws IOException {
        ByteBuffer bytes = read(channel, file, schemaBytes + Integer.BYTES);
        if (bytes.getInt(schemaBytes) != checksum(bytes, 0, schemaBytes)) {
            throw new TableFileException(file, HEAD_BYTES, "is damaged: its schema has another checksum");
        }
        byte[] schema = new byte[schemaBytes];
        bytes.get(0, schema);
        try {
            return Schema.decode(new ByteArrayInputStream(schema));
        } catch (IOException e) {
            throw new TableFileException(file, HEAD_BYTES, "has no schema: " + e.getMessage());
        }
    }

    private static ByteBuffer read(FileChannel channel, Path file, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new TableFileException(file, channel.size(), "is truncated: it has " + channel.size() + " bytes");
            }
        }
        return bytes.flip();
    }

    private static void fill(Version version, CheckedBlocks.Source body, Head head, Path file) throws IOException {
        for (long i = 0; i < head.rows; i++) {
            long key = body.getLong();
            long place = body.getLong();
            if (place < 0 || place > (head.valueBytes - Integer.BYTES) >> Values.UNIT_SHIFT) {
                throw new TableFileException(
                        file, HEAD_BYTES, "puts key " + key + " at " + place + ", beyond its values");
            }
            if (version.index().put(key, place) != LongTable.ABSENT) {
                throw new TableFileException(file, HEAD_BYTES, "has key " + key + " twice");
            }
        }
        for (MemorySegment chunk : version.values().chunks()) {
            body.get(chunk, 0, chunk.byteSize());
        }
        eachRow(version, (key, place) -> {
            String fault = fault(version, place);
            if (fault != null) {
                throw new TableFileException(file, HEAD_BYTES, "at key " + key + " " + fault);
            }
        });
    }

    /** What is done with a key and its place. */
    private interface Action {
        void apply(long key, long place) throws IOException;
    }

    private static void eachRow(Version version, Action action) throws IOException {
        try {
            version.index().forEach((key, place) -> {
                try {
                    action.apply(key, place);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static @Nullable String fault(Version version, long place) {
        MemorySegment chunk = version.values().chunks()[Values.chunk(place)];
        long at = Values.offset(place);
        if (at + Integer.BYTES > chunk.byteSize()) {
            return "has a row that begins beyond its values";
        }
        long bytes = chunk.get(INT, at);
        return bytes < 0 || bytes > chunk.byteSize() - at - Integer.BYTES
                ? "has a row of " + bytes + " bytes that ends beyond its values"
                : version.schema().fault(chunk, at + Integer.BYTES, bytes);
    }
}
