package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Saved tables with bytes changed at random. A file whose checksum fits its bytes may be one that this library would not
 * have written: it is refused by name, or opened as a table whose searches end with ids of its rows.
 */
@Tag("stress")
class FuzzedFileTest {
    private static final int ROWS = 120;
    private static final int DIMENSION = 5;
    private static final int HEAD_BYTES = 192;
    /** Of a live table's file: its head, the place of the front's length, and an entry of the directory without its bits. */
    private static final int LIVE_HEAD_BYTES = 48;

    private static final int LIVE_FRONT_BYTES_AT = 12;
    private static final int LIVE_ENTRY_BYTES = 24;

    @SuppressWarnings("NullAway.Init")
    private static Orchestrator orchestrator;

    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    private static byte[] fixed = {};
    private static byte[] scaled = {};
    private static byte[] live = {};
    private static byte[] scaledLive = {};

    /** A number written over what a file has at a place. */
    record Edit(double place, boolean isInHead, int value, int bytes) {
        void in(ByteBuffer file) {
            int room = isInHead ? Math.min(HEAD_BYTES, file.capacity()) : file.capacity();
            int at = (int) (place * (room - bytes));
            if (bytes == 1) {
                file.put(at, (byte) value);
            } else {
                file.putInt(at & -4, value);
            }
        }
    }

    @BeforeContainer
    static void save() throws IOException {
        orchestrator = Orchestrator.builder().topology(Fixtures.twoDomains()).build();
        folder = Files.createTempDirectory("roost-fuzzed");
        float[][] rows = gaussian(ROWS, DIMENSION, new Random(5));
        Path file = folder.resolve("good");
        fixed = saved(HnswTable.builder(), rows, file);
        scaled = saved(HnswTable.builder().elementType(ElementType.INT8), rows, file);
        long[] ids = new long[ROWS];
        Arrays.setAll(ids, row -> row);
        live = saved(LiveTable.builder(), ids, rows, file);
        scaledLive = saved(LiveTable.builder().elementType(ElementType.INT8), ids, rows, file);
    }

    private static byte[] saved(HnswTable.Builder builder, float[][] rows, Path file) throws IOException {
        try (HnswTable table = builder.m(4).efConstruction(20).build(orchestrator, rows)) {
            table.save(file);
            return Files.readAllBytes(file);
        }
    }

    private static byte[] saved(LiveTable.Builder builder, long[] ids, float[][] rows, Path file) throws IOException {
        try (LiveTable table = builder.m(4).efConstruction(20).build(orchestrator, ids, rows)) {
            table.remove(7);
            table.save(file);
            return Files.readAllBytes(file);
        }
    }

    @AfterContainer
    static void close() throws IOException {
        orchestrator.close();
        Files.deleteIfExists(folder.resolve("good"));
        Files.deleteIfExists(folder.resolve("fuzzed"));
        Files.delete(folder);
    }

    @Provide
    static Arbitrary<Edit> edits() {
        Arbitrary<Integer> values = Arbitraries.oneOf(
                Arbitraries.of(0, 1, -1, ROWS - 1, ROWS, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x7fc00000),
                Arbitraries.integers());
        return Combinators.combine(
                        Arbitraries.doubles().between(0, 1).ofScale(6),
                        Arbitraries.of(true, false),
                        values,
                        Arbitraries.of(1, 4))
                .as(Edit::new);
    }

    @Property(tries = 400)
    void aFixedTableIsRefusedOrSearched(@ForAll("edits") Edit one, @ForAll("edits") Edit other) throws IOException {
        refusedOrSearched(edited(fixed, List.of(one, other)));
    }

    @Property(tries = 400)
    void aTableOfScalarCodesIsRefusedOrSearched(@ForAll("edits") Edit one, @ForAll("edits") Edit other)
            throws IOException {
        refusedOrSearched(edited(scaled, List.of(one, other)));
    }

    private static void refusedOrSearched(byte[] file) throws IOException {
        sign(file);
        Path fuzzed = Files.write(folder.resolve("fuzzed"), file);
        try (HnswTable table = HnswTable.open(orchestrator, "fuzzed", fuzzed)) {
            assertSearched(table);
        } catch (FileFormatException refused) {
            assertThat(refused).hasMessageContaining(fuzzed.toString());
        }
    }

    @Property(tries = 400)
    void aLiveTableIsRefusedOrSearched(@ForAll @Size(min = 1, max = 3) List<@From("edits") Edit> edits)
            throws IOException {
        liveRefusedOrSearched(edited(live, edits));
    }

    @Property(tries = 400)
    void aLiveTableOfScalarCodesIsRefusedOrSearched(@ForAll @Size(min = 1, max = 3) List<@From("edits") Edit> edits)
            throws IOException {
        liveRefusedOrSearched(edited(scaledLive, edits));
    }

    private static void liveRefusedOrSearched(byte[] file) throws IOException {
        signLive(file);
        Path fuzzed = Files.write(folder.resolve("fuzzed"), file);
        try (LiveTable table = LiveTable.open(orchestrator, "fuzzed", fuzzed)) {
            assertSearched(table);
        } catch (FileFormatException refused) {
            assertThat(refused).hasMessageContaining(fuzzed.toString());
        }
    }

    @Property(tries = 100)
    void aFileThatIsCutOrPaddedIsRefused(@ForAll double share) throws IOException {
        int length = (int) (Math.abs(share) % 1.2 * fixed.length);
        Path fuzzed = Files.write(folder.resolve("fuzzed"), Arrays.copyOf(fixed, length));
        try (HnswTable table = HnswTable.open(orchestrator, "fuzzed", fuzzed)) {
            assertThat(length).isEqualTo(fixed.length);
            assertSearched(table);
        } catch (FileFormatException refused) {
            assertThat(length).isNotEqualTo(fixed.length);
        }
    }

    private static byte[] edited(byte[] good, List<Edit> edits) {
        byte[] file = good.clone();
        edits.forEach(edit -> edit.in(ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN)));
        return file;
    }

    private static void sign(byte[] file) {
        sign(file, 0, file.length);
    }

    /** Makes the checksums of the front and of the images right, as far as the directory still names places in the file. */
    private static void signLive(byte[] file) {
        ByteBuffer numbers = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int front = numbers.getInt(LIVE_FRONT_BYTES_AT);
        if (front >= LIVE_HEAD_BYTES + Long.BYTES && front <= file.length) {
            sign(file, 0, front);
        }
        int entry = LIVE_HEAD_BYTES;
        while (entry >= 0 && entry + LIVE_ENTRY_BYTES <= Math.min(front, file.length)) {
            long at = numbers.getLong(entry);
            long length = numbers.getLong(entry + Long.BYTES);
            if (at >= front && length >= Long.BYTES && at + length <= file.length) {
                sign(file, (int) at, (int) (at + length));
            }
            int words = (numbers.getInt(entry + 2 * Long.BYTES) + Long.SIZE - 1) / Long.SIZE;
            entry = words < 0 ? -1 : entry + LIVE_ENTRY_BYTES + words * Long.BYTES;
        }
    }

    private static void sign(byte[] file, int from, int to) {
        CRC32C checksum = new CRC32C();
        checksum.update(file, from, to - from - Long.BYTES);
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putLong(to - Long.BYTES, checksum.getValue());
    }

    private static void assertSearched(VectorTable table) {
        Random random = new Random(9);
        for (int search = 0; search < 3; search++) {
            float[] query = gaussian(1, table.dimension(), random)[0];
            SearchResult found = table.search(query, 10, 20).join();
            assertThat(found.size()).isBetween(0, 10);
        }
    }
}
