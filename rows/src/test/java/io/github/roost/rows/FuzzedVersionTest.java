package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Damage;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Folders of tables of which a file is damaged: refused by name, or opened with every row right. A version whose checksums fit its bytes may be one
 * that this library would not have written: it is refused, when it is loaded or, of rows that are in the file, when these are read.
 */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedVersionTest {
    private static final int ROWS = 220;
    private static final int BLOCK = CheckedBlocks.BLOCK_BYTES;
    private static final int HEAD_BYTES = 64;
    /** For few of the rows, and at least twice the longest. */
    private static final long VALUE_MEMORY = 24_000;

    private static final long[] KEYS = LongStream.range(0, ROWS + 3).toArray();

    private static Orchestrator orchestrator;
    private static BlockIo io;
    private static Path folder;
    private static Path file;
    private static Path current;
    private static byte[] good;

    @BeforeContainer
    static void seal() throws IOException {
        orchestrator = ColdTable.orchestrator(1);
        io = BlockIo.builder(orchestrator).build();
        folder = Files.createTempDirectory("roost-fuzzed");
        file = folder.resolve("version-1.roost");
        current = folder.resolve("current");
        try (VersionedRows table = VersionedRows.open(folder)) {
            ColdTable.seal(table, 1, ROWS);
            table.publish(1);
        }
        good = Files.readAllBytes(file);
    }

    @AfterContainer
    static void close() throws IOException {
        io.close();
        orchestrator.close();
        for (Path one : files()) {
            Files.delete(one);
        }
        Files.delete(folder);
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    @Provide
    static Arbitrary<Damage> any() {
        return Damage.any();
    }

    @Provide
    static Arbitrary<Damage> inPlace() {
        return Damage.inPlace();
    }

    private static VersionedRows open(boolean isCold, boolean takesUpserts) throws IOException {
        VersionedRows.Builder table = VersionedRows.builder(folder)
                .updates(takesUpserts ? VersionedRows.Updates.UPSERTS : VersionedRows.Updates.VERSIONS);
        return (isCold ? table.valueMemory(VALUE_MEMORY, orchestrator, io) : table).open();
    }

    @Property(tries = 150)
    void aDamagedVersionIsRefusedOrRight(
            @ForAll boolean isCold,
            @ForAll boolean takesUpserts,
            @ForAll boolean isInHead,
            @ForAll("any") Damage damage)
            throws IOException {
        Files.write(file, damage.in(good, 0, isInHead ? BLOCK : good.length, 1));
        try (VersionedRows table = open(isCold, takesUpserts)) {
            RowBatch rows = RowBatch.onHeap();
            try (VersionedRows.Reader reader = table.reader()) {
                reader.getAll(KEYS, rows);
            }
            ColdTable.check(rows, KEYS, ROWS);
        } catch (IOException refused) {
            assertThat(refused).hasMessageStartingWith(file.toString());
        }
        assertNothingIsOpen();
    }

    @Property(tries = 250)
    void aVersionOfRightChecksumsIsRefusedOrRead(
            @ForAll boolean isCold,
            @ForAll boolean takesUpserts,
            @ForAll @IntRange(max = 4) int part,
            @ForAll @Size(min = 1, max = 3) List<@From("inPlace") Damage> all)
            throws IOException {
        byte[] version = good;
        for (Damage damage : all) {
            version = switch (part) {
                case 0 -> damage.in(version, 8, HEAD_BYTES, 1);
                case 1 -> damage.in(version, HEAD_BYTES, HEAD_BYTES + 40, 1);
                case 2 -> damage.in(version, BLOCK, BLOCK + 16 * ROWS, 8);
                case 3 -> damage.in(version, BLOCK + 16 * ROWS, good.length, 4);
                default -> damage.in(version, 0, good.length, BLOCK);
            };
        }
        sign(version);
        Files.write(file, version);
        try (VersionedRows table = open(isCold, takesUpserts)) {
            read(table);
            if (takesUpserts) {
                Schema schema = table.schema();
                if (schema.equals(ColdTable.SCHEMA)) {
                    table.upsert(5, schema.writer().setLong(0, 1).setLong(1, 5).setText(2, "new"));
                    table.remove(6);
                    read(table);
                }
            }
        } catch (IOException refused) {
            assertThat(refused).hasMessageContaining(file.toString());
        } catch (IllegalArgumentException tooLong) {
            assertThat(tooLong)
                    .hasMessageStartingWith("valueMemory must have room")
                    .hasMessageContaining(file.toString());
        }
        assertNothingIsOpen();
    }

    private static void read(VersionedRows table) {
        RowBatch rows = RowBatch.onHeap();
        try (VersionedRows.Reader reader = table.reader()) {
            // One by one, as one that cannot be read fails all of its batch.
            for (long key : KEYS) {
                try {
                    reader.getAll(new long[] {key}, rows);
                    touch(rows);
                } catch (RowBatch.ColdReadException refused) {
                    assertThat(refused).hasMessageContaining(file.toString());
                }
            }
        }
    }

    /** Every column of a row. */
    private static void touch(RowBatch rows) {
        for (int row = 0; row < rows.size(); row++) {
            if (rows.isPresent(row)) {
                assertThat(rows.rowBytes(row).byteSize()).isBetween(1L, (long) Schema.MAX_ROW_BYTES);
                List<Column> columns = rows.schema().columns();
                for (int column = 0; column < columns.size(); column++) {
                    switch (columns.get(column).type()) {
                        case INT -> rows.getInt(row, column);
                        case LONG -> rows.getLong(row, column);
                        case FLOAT -> rows.getFloat(row, column);
                        case DOUBLE -> rows.getDouble(row, column);
                        case FIXED_BYTES, BYTES -> rows.getBytes(row, column);
                        case TEXT -> rows.getText(row, column);
                    }
                }
            }
        }
    }

    private static void sign(byte[] version) {
        ByteBuffer bytes = ByteBuffer.wrap(version).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(HEAD_BYTES - 4, Checksum.of(MemorySegment.ofArray(version).asSlice(0, HEAD_BYTES - 4)));
        bytes.putInt(
                BLOCK - 4, Checksum.of(MemorySegment.ofArray(version).asSlice(HEAD_BYTES, BLOCK - 4 - HEAD_BYTES)));
        for (int block = 1; block < version.length / BLOCK; block++) {
            CRC32C crc = new CRC32C();
            crc.update(ByteBuffer.allocate(16).putLong(1).putLong(block - 1).flip());
            crc.update(version, block * BLOCK, BLOCK - 4);
            bytes.putInt((block + 1) * BLOCK - 4, (int) crc.getValue());
        }
    }

    @Property(tries = 100)
    void whatNamesTheCurrentVersionIsRefusedOrNamesIt(@ForAll("any") Damage damage) throws IOException {
        Files.write(file, good);
        byte[] right = Files.readAllBytes(current);
        try {
            Files.write(current, damage.in(right));
            try (VersionedRows table = VersionedRows.open(folder)) {
                assertThat(table.current()).isEqualTo(1);
            } catch (IOException refused) {
                assertThat(refused).hasMessageContaining(folder.toString());
            }
            assertNothingIsOpen();
        } finally {
            Files.write(current, right);
        }
    }

    @Property(tries = 40)
    void whatAKilledProcessLeavesIsDeletedWhateverItHolds(
            @ForAll boolean isCold, @ForAll @Size(max = 300) byte[] rest, @ForAll @IntRange(max = 2) int which)
            throws IOException {
        Files.write(file, good);
        String name = List.of("version-1.roost-spill", "current-17", "version-2.roost-4")
                .get(which);
        Path left = Files.write(folder.resolve("." + name + ".part"), rest);
        try (VersionedRows table = open(isCold, true)) {
            RowBatch rows = RowBatch.onHeap();
            for (long key = 0; key < 300; key++) {
                table.upsert(
                        key,
                        ColdTable.SCHEMA
                                .writer()
                                .setLong(0, 1)
                                .setLong(1, key)
                                .setText(2, "x".repeat(ColdTable.pad(key))));
            }
            try (VersionedRows.Reader reader = table.reader()) {
                reader.getAll(KEYS, rows);
            }
            ColdTable.check(rows, KEYS, 300);
        }
        assertThat(left).doesNotExist();
        assertNothingIsOpen();
    }

    private static void assertNothingIsOpen() throws IOException {
        Path descriptors = Path.of("/proc/self/fd");
        if (Files.isDirectory(descriptors)) {
            try (Stream<Path> all = Files.list(descriptors)) {
                assertThat(all.map(FuzzedVersionTest::target)).noneMatch(open -> open.startsWith(folder.toString()));
            }
        }
        assertThat(io.stats().buffersInUse()).isZero();
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException gone) {
            return "";
        }
    }
}
