package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Damage;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import net.jqwik.api.Arbitraries;
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
import org.jspecify.annotations.Nullable;

/** {@link FuzzedFileTest} of rows that are kept as codes or float16, with and without floats beside them, of every metric. */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedCodesTest {
    private static final int ROWS = 260;
    private static final int DIMENSION = 11;
    private static final int LISTS = 4;
    private static final int HEAD_BYTES = 72;
    private static final int K = 10;

    /**
     * A file that was saved.
     *
     * @param codec where centers begin
     * @param ids where these do
     * @param checksum where that of the front is
     * @param blocks where that of each list begins, and the end
     * @param answer of all lists
     */
    private record Saved(
            String what, byte[] bytes, int codec, int ids, int checksum, int[] blocks, SearchResult answer) {
        @Override
        public String toString() {
            return what;
        }
    }

    private static final List<Saved> SAVED = new ArrayList<>();
    private static final float[] QUERY = gaussian(1, DIMENSION, new Random(6))[0];

    private static Orchestrator orchestrator;
    private static Path folder;
    private static Path file;

    @BeforeContainer
    static void save() throws IOException {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
        folder = Files.createTempDirectory("roost-fuzzed");
        file = folder.resolve("fuzzed");
        for (Metric metric : Metric.values()) {
            save(IvfTable.builder().metric(metric).minCoded(1), metric + " floats and codes");
            save(IvfTable.builder().metric(metric).elementType(ElementType.FLOAT16), metric + " float16");
            save(IvfTable.builder().metric(metric).elementType(ElementType.INT8), metric + " int8 and floats");
            save(IvfTable.builder().metric(metric).elementType(ElementType.INT8).keepFloats(false), metric + " int8");
        }
    }

    private static void save(IvfTable.Builder builder, String what) throws IOException {
        try (IvfTable table = builder.nlist(LISTS).build(orchestrator, gaussian(ROWS, DIMENSION, new Random(5)))) {
            table.save(file);
        }
        IvfFile saved = IvfFile.open(file).table();
        byte[] bytes = Files.readAllBytes(file);
        int[] blocks = new int[LISTS + 1];
        blocks[LISTS] = bytes.length;
        for (int list = LISTS - 1; list >= 0; list--) {
            blocks[list] = blocks[list + 1] - (int) saved.layout().bytes(saved.ids()[list].length);
        }
        int codec = HEAD_BYTES + 8 * LISTS + LISTS * DIMENSION * Float.BYTES;
        int perList = DIMENSION * Float.BYTES + 2 * Double.BYTES;
        int ids = codec + (saved.layout().codes() ? (LISTS + 1) * perList : 0);
        int checksum = ids + ROWS * Long.BYTES;
        assertThat(blocks[0]).isBetween(checksum + Long.BYTES, checksum + Long.BYTES + 63);
        try (IvfTable table = IvfTable.open(orchestrator, "good", file)) {
            SearchResult answer = table.search(QUERY, K, LISTS).join();
            SAVED.add(new Saved(what, bytes, codec, ids, checksum, blocks, answer));
        }
    }

    @AfterContainer
    static void close() throws IOException {
        orchestrator.close();
        Files.deleteIfExists(file);
        Files.delete(folder);
    }

    @Provide
    static Arbitrary<Damage> any() {
        return Damage.any();
    }

    @Provide
    static Arbitrary<Damage> inPlace() {
        return Damage.inPlace();
    }

    @Provide
    static Arbitrary<Saved> saved() {
        return Arbitraries.of(SAVED);
    }

    @Property(tries = 200)
    void aDamagedTableIsRefusedOrRight(@ForAll("saved") Saved good, @ForAll("any") Damage damage) throws IOException {
        Files.write(file, damage.in(good.bytes));
        searchedOrRefused(good.answer);
    }

    @Property(tries = 400)
    void aTableOfRightChecksumsIsRefusedOrSearched(
            @ForAll("saved") Saved good,
            @ForAll @IntRange(max = 3) int part,
            @ForAll @Size(min = 1, max = 2) List<@From("inPlace") Damage> all)
            throws IOException {
        byte[] bytes = good.bytes;
        for (Damage damage : all) {
            bytes = switch (part) {
                case 0 -> damage.in(bytes, 12, HEAD_BYTES, 4);
                case 1 -> damage.in(bytes, HEAD_BYTES, good.ids, 4);
                case 2 -> damage.in(bytes, good.ids, good.checksum, 8);
                default -> damage.in(bytes, good.blocks[0], bytes.length, 1);
            };
        }
        sign(good, bytes);
        Files.write(file, bytes);
        searchedOrRefused(null);
    }

    private static void sign(Saved good, byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        MemorySegment all = MemorySegment.ofArray(bytes);
        for (int list = 0; list < LISTS; list++) {
            MemorySegment block = all.asSlice(good.blocks[list], good.blocks[list + 1] - good.blocks[list]);
            buffer.putInt(HEAD_BYTES + 8 * list + 4, Checksum.of(block));
        }
        buffer.putLong(good.checksum, Integer.toUnsignedLong(Checksum.of(all.asSlice(0, good.checksum))));
    }

    /** @param right what is found, or null if nobody knows */
    private static void searchedOrRefused(@Nullable SearchResult right) throws IOException {
        try (IvfTable table = IvfTable.open(orchestrator, "fuzzed", file)) {
            boolean isWhole = isWhole(table);
            float[] query = Arrays.copyOf(QUERY, table.dimension());
            try {
                SearchResult found = table.search(query, K, LISTS).join();
                assertThat(isWhole).as("a table whose every list was searched").isTrue();
                assertThat(found.size()).isEqualTo(Math.min(K, table.size()));
                if (right != null) {
                    assertThat(found).isEqualTo(right);
                }
                table.vector(found.ids()[0]);
                table.put(1_000, query.clone());
                table.remove(found.ids()[0]);
                assertThat(table.search(query, K, LISTS).join().size()).isEqualTo(K);
            } catch (CompletionException failed) {
                assertThat(isWhole).isFalse();
                assertThat(failed).hasCauseInstanceOf(UncheckedIOException.class);
                assertThat(failed).hasRootCauseInstanceOf(FileFormatException.class);
                assertThat(failed).rootCause().hasMessageContaining(file.toString());
            }
        } catch (FileFormatException refused) {
            assertThat(refused).hasMessageContaining(file.toString());
        }
    }

    private static boolean isWhole(IvfTable table) throws IOException {
        try {
            table.verify();
            return true;
        } catch (FileFormatException damaged) {
            assertThat(damaged).hasMessageContaining(file.toString());
            return false;
        }
    }
}
