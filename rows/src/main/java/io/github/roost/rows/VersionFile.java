package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.format.RowsFormats;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.WholeFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The file of a sealed version, all numbers little-endian:
 *
 * <pre>
 * head     magic, format, bytes of the schema, version, rows, bytes of the values, bytes of the longest row, checksum of the head     64 bytes
 * schema   the schema, zeros up to a whole number of 4 KiB blocks, and the checksum of both
 * body     in {@link CheckedBlocks}: key and place of each row, 16 bytes; then the values, as they lie in memory
 * </pre>
 *
 * Reading trusts nothing in the file: sizes are compared with the file's size before memory is allocated, and blocks are verified by checksum. If all
 * values are loaded into memory, every place and row is checked at load time, so that readers need not check. Otherwise every place is checked at
 * load time, and each row when it is read.
 */
final class VersionFile {
    private static final int FORMAT = 2;
    private static final int HEAD_BYTES = 64;
    private static final int MAX_SCHEMA_BYTES = 1 << 20;
    private static final long MAX_ROWS = 1L << 40;
    private static final long MAX_VALUE_BYTES = 1L << 48;
    private static final int ENTRY_BYTES = 2 * Long.BYTES;

    private VersionFile() {}

    /**
     * The fields of a file's head.
     *
     * @param maxRowBytes bytes of the longest row
     */
    record Head(int schemaBytes, long version, long rows, long valueBytes, int maxRowBytes) {
        long bodyBytes() {
            return rows * ENTRY_BYTES + valueBytes;
        }

        /** The number of longs in the body before the values. */
        long longsBefore() {
            return rows * ENTRY_BYTES / Long.BYTES;
        }

        /** The place in the values at which a block's content begins; blocks beyond the file's end continue the count. */
        long unit(long block) {
            return (block - headBlocks()) * (CheckedBlocks.CONTENT_BYTES / Long.BYTES) - longsBefore();
        }

        /** The number of blocks before the body. */
        int headBlocks() {
            return (HEAD_BYTES + schemaBytes + Integer.BYTES + CheckedBlocks.BLOCK_BYTES - 1)
                    / CheckedBlocks.BLOCK_BYTES;
        }

        int headBytes() {
            return headBlocks() * CheckedBlocks.BLOCK_BYTES;
        }

        long blocks() {
            return headBlocks() + CheckedBlocks.blocks(bodyBytes());
        }

        long fileBytes() {
            return blocks() * CheckedBlocks.BLOCK_BYTES;
        }
    }

    /** Writes a version, which must not change meanwhile. The file appears whole or not at all. */
    static void write(Path file, Version version) throws IOException {
        WholeFile.replace(file, channel -> {
            byte[] schema = version.schema().encode();
            Head head = new Head(
                    schema.length,
                    version.number(),
                    version.index().size(),
                    version.values().bytes(),
                    version.maxRowBytes());
            ByteBuffer bytes = ByteBuffer.allocate(head.headBytes())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(RowsFormats.VERSION.magic())
                    .putInt(FORMAT)
                    .putInt(head.schemaBytes)
                    .putLong(head.version)
                    .putLong(head.rows)
                    .putLong(head.valueBytes)
                    .putInt(head.maxRowBytes);
            bytes.putInt(HEAD_BYTES - Integer.BYTES, checksum(bytes, 0, HEAD_BYTES - Integer.BYTES));
            bytes.position(HEAD_BYTES).put(schema);
            int end = head.headBytes() - Integer.BYTES;
            bytes.putInt(end, checksum(bytes, HEAD_BYTES, end - HEAD_BYTES));
            WholeFile.writeAll(channel, bytes.clear());
            writeBody(new CheckedBlocks(version.number(), head.bodyBytes()).new Sink(channel), head, version);
        });
    }

    private static void writeBody(CheckedBlocks.Sink body, Head head, Version version) throws IOException {
        eachRow(version, (key, place) -> {
            body.putLong(key);
            body.putLong(Places.inFile(place, head.longsBefore(), version.rowBytes(place)));
        });
        Values values = version.values();
        for (int i = 0; i < values.chunks().length; i++) {
            body.put(values.chunks()[i], 0, values.usedOf(i));
        }
        body.end();
    }

    private static int checksum(ByteBuffer of, int at, int bytes) {
        return Checksum.of(MemorySegment.ofBuffer(of.slice(at, bytes)));
    }

    /** Requires the checksum that follows the first {@code bytes} bytes to match them. */
    private static void requireChecksum(FileChecks checks, long at, String which, ByteBuffer of, int bytes)
            throws FileFormatException {
        checks.requireChecksum(
                at, which, Integer.toUnsignedLong(of.getInt(bytes)), MemorySegment.ofBuffer(of.slice(0, bytes)));
    }

    /**
     * Reads a version.
     *
     * @param memory the limit for its values, or null to load all values into memory
     * @throws FileFormatException if the file is not a whole, undamaged version of this number
     * @throws IllegalArgumentException if its longest row does not fit into {@code memory}
     * @throws OutOfMemoryError if there is not enough memory for it; nothing leaks
     */
    static Version read(Path file, long number, @Nullable ValueMemory memory) throws IOException {
        try (FileChannel channel = TableFormat.open(file)) {
            Head head = readHead(channel, file, number);
            Schema schema = readSchema(channel, file, head);
            CheckedBlocks.Source body =
                    new CheckedBlocks(number, head.bodyBytes()).new Source(channel, file, head.bodyBytes());
            return memory == null || (head.valueBytes <= memory.bytes() && !memory.takesUpserts())
                    ? readAll(body, head, schema, file)
                    : readIndex(body, head, schema, file, memory);
        }
    }

    private static Version readAll(CheckedBlocks.Source body, Head head, Schema schema, Path file) throws IOException {
        NeighborHashMap index = NeighborHashMap.builder(head.rows).build();
        Values values = null;
        boolean done = false;
        try {
            values = Values.ofBytes(head.valueBytes);
            Version version = new Version(head.version, schema, index, values, null);
            fill(index, body, head, file, Places::unit);
            for (MemorySegment chunk : values.chunks()) {
                body.get(chunk, 0, chunk.byteSize());
            }
            eachRow(version, (key, place) -> {
                String fault = fault(version, place);
                if (fault != null) {
                    throw new FileFormatException(file, HEAD_BYTES, "at key " + key + " " + fault);
                }
            });
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

    private static Version readIndex(CheckedBlocks.Source body, Head head, Schema schema, Path file, ValueMemory memory)
            throws IOException {
        NeighborHashMap index = NeighborHashMap.builder(head.rows).build();
        ColdValues cold = null;
        boolean done = false;
        try {
            fill(index, body, head, file, Places::cold);
            body.skipAll();
            cold = memory.open(file, head, schema, index);
            Version version = new Version(head.version, schema, index, Values.empty(), cold);
            done = true;
            return version;
        } finally {
            if (!done) {
                index.close();
                if (cold != null) {
                    cold.close();
                }
            }
        }
    }

    private static Head readHead(FileChannel channel, Path file, long number) throws IOException {
        ByteBuffer bytes = read(channel, file, HEAD_BYTES);
        FileChecks checks = new FileChecks(file);
        RowsFormats.VERSION.require(file, bytes.getLong());
        checks.requireVersion(Long.BYTES, bytes.getInt(), FORMAT);
        Head head = new Head(bytes.getInt(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getInt());
        requireChecksum(checks, 0, "the checksum of its head", bytes, HEAD_BYTES - Integer.BYTES);
        if (head.version != number) {
            throw new FileFormatException(file, 16, "is version " + head.version + ", not " + number);
        }
        if (head.schemaBytes < 0
                || head.schemaBytes > MAX_SCHEMA_BYTES
                || head.rows < 0
                || head.rows > MAX_ROWS
                || head.valueBytes < 0
                || head.valueBytes > MAX_VALUE_BYTES
                || head.maxRowBytes < 0
                || head.maxRowBytes > Schema.MAX_ROW_BYTES) {
            throw new FileFormatException(file, 12, "has sizes out of range");
        }
        if (channel.size() != head.fileBytes()) {
            throw new FileFormatException(
                    file, channel.size(), "has " + channel.size() + " bytes, not the " + head.fileBytes() + " it says");
        }
        return head;
    }

    private static Schema readSchema(FileChannel channel, Path file, Head head) throws IOException {
        int end = head.headBytes() - HEAD_BYTES - Integer.BYTES;
        ByteBuffer bytes = read(channel, file, end + Integer.BYTES);
        requireChecksum(new FileChecks(file), HEAD_BYTES, "the checksum of its schema", bytes, end);
        byte[] schema = new byte[head.schemaBytes];
        bytes.get(0, schema);
        try {
            return Schema.decode(new ByteArrayInputStream(schema));
        } catch (IOException e) {
            throw new FileFormatException(file, HEAD_BYTES, "has no schema: " + e.getMessage());
        }
    }

    private static ByteBuffer read(FileChannel channel, Path file, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new FileFormatException(
                        file, channel.size(), "is truncated: it has " + channel.size() + " bytes");
            }
        }
        return bytes.flip();
    }

    private static void fill(
            NeighborHashMap index, CheckedBlocks.Source body, Head head, Path file, LongUnaryOperator payloadOf)
            throws IOException {
        for (long i = 0; i < head.rows; i++) {
            long key = body.getLong();
            long place = body.getLong();
            if (!Places.isInFile(place, head.valueBytes)) {
                throw new FileFormatException(
                        file, head.headBytes(), "puts key " + key + " at " + place + ", beyond its values");
            }
            if (index.put(key, payloadOf.applyAsLong(place)) != NeighborHashMap.ABSENT) {
                throw new FileFormatException(file, head.headBytes(), "has key " + key + " twice");
            }
        }
    }

    /** An action on a key and its place. */
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
