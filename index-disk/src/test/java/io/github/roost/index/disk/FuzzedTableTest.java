package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.index.disk.update.LogFiles;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Damage;
import io.github.roost.topology.TopologyReader;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
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

/**
 * Tables on disk whose file or logs are damaged: refused by name, or opened as a table that has no row that it never had. A file whose
 * checksums fit its bytes may be one that this library would not have written: it is refused, or used without any other failure.
 */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedTableTest {
    private static final int BLOCK = BlockIo.BLOCK_BYTES;
    private static final int BUILT = 90;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 130, 9, 21);

    /** A table as a process leaves it that ends without a close, and all the states that its updates led through. */
    private record Left(byte[] table, byte[] log0, byte[] log1, List<Map<Long, float[]>> states) {
        byte[] part(int which) {
            return switch (which) {
                case 0 -> table;
                case 1 -> log0;
                default -> log1;
            };
        }

        Left with(int which, byte[] bytes) {
            return new Left(which == 0 ? bytes : table, which == 1 ? bytes : log0, which == 2 ? bytes : log1, states);
        }
    }

    private static Orchestrator orchestrator;
    private static BlockIo io;
    private static Path folder;
    private static Path file;
    /** After a checkpoint with updates behind it, and before that checkpoint was durable. */
    private static Left after;

    private static Left during;

    @BeforeContainer
    static void build() throws IOException {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
        io = BlockIo.builder(orchestrator).build();
        folder = Files.createTempDirectory("roost-fuzzed");
        file = folder.resolve("table");
        DiskTable.builder()
                .degree(12)
                .build(orchestrator, io, file, Arrays.copyOf(ROWS.ids(), BUILT), Arrays.copyOf(ROWS.vectors(), BUILT));
        Map<Long, float[]> now = new HashMap<>();
        for (int row = 0; row < BUILT; row++) {
            now.put(Rows.id(row), ROWS.vectors()[row]);
        }
        List<Map<Long, float[]>> states = new ArrayList<>(List.of(Map.copyOf(now)));
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "good", file)) {
            // Begins the logs: then the table is its file with them.
            assertThat(table.remove(-1)).isFalse();
            byte[] before = Files.readAllBytes(file);
            update(table, now, states, BUILT, 12);
            table.checkpoint().join();
            int checkpoint = states.size() - 1;
            update(table, now, states, BUILT + 20, 8);
            after = new Left(
                    Files.readAllBytes(file),
                    Files.readAllBytes(log(0)),
                    Files.readAllBytes(log(1)),
                    List.copyOf(states.subList(checkpoint, states.size())));
            during = new Left(before, after.log0, after.log1, List.copyOf(states));
        }
        Files.delete(file);
        Files.delete(log(0));
        Files.delete(log(1));
    }

    private static Path log(int index) {
        return LogFiles.pathOf(file, index);
    }

    private static void update(
            MutableDiskTable table, Map<Long, float[]> now, List<Map<Long, float[]>> states, int from, int count) {
        for (int i = 0; i < count; i++) {
            if (i % 4 == 3) {
                table.remove(Rows.id(i));
                now.remove(Rows.id(i));
            } else {
                table.put(Rows.id(from + i), ROWS.vectors()[from + i]);
                now.put(Rows.id(from + i), ROWS.vectors()[from + i]);
            }
            states.add(Map.copyOf(now));
        }
    }

    @AfterContainer
    static void close() throws IOException {
        io.close();
        orchestrator.close();
        for (Path one : List.of(file, log(0), log(1))) {
            Files.deleteIfExists(one);
        }
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

    @Property(tries = 60)
    void aDamagedTableIsRefusedOrHasNothingButWhatItHad(
            @ForAll boolean isDuring, @ForAll @IntRange(max = 2) int which, @ForAll("any") Damage damage)
            throws Exception {
        Left good = isDuring ? during : after;
        Left damaged = good.with(which, damage.in(good.part(which), 0, good.part(which).length, BLOCK));
        write(damaged);
        try (DiskTable table = DiskTable.openReadOnly(orchestrator, io, "fuzzed", file)) {
            // The newest superblock may be gone, and the older one is of the table that was built.
            check(table, during.states);
        } catch (IOException refused) {
            assertNamed(refused);
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "fuzzed", file)) {
            check(table, good.states);
        } catch (IOException refused) {
            assertNamed(refused);
        }
        assertNothingIsOpen();
    }

    /** All that is found is of a state of the table, and all of that is found that is on whole pages. */
    private static void check(DiskTable table, List<Map<Long, float[]>> states) throws Exception {
        boolean isWhole = isWhole(table);
        Map<Long, float[]> found = new HashMap<>();
        for (int row = 0; row < ROWS.vectors().length; row++) {
            float[] vector = table.vector(Rows.id(row));
            if (vector != null) {
                found.put(Rows.id(row), vector);
            }
        }
        boolean isOne = states.stream()
                .anyMatch(state -> state.size() == table.size()
                        && (!isWhole || found.size() == state.size())
                        && found.entrySet().stream()
                                .allMatch(row -> Arrays.equals(row.getValue(), state.get(row.getKey()))));
        assertThat(isOne).as("%s is as it was once, whole: %s", table, isWhole).isTrue();
        float[] query = ROWS.query(3);
        SearchResult near = table.search(query, 10, 200).get(60, TimeUnit.SECONDS);
        for (int i = 0; i < near.size(); i++) {
            assertThat(found).containsKey(near.ids()[i]);
            assertThat((double) near.distances()[i])
                    .isCloseTo(ROWS.distance(query, Rows.row(near.ids()[i])), within(1e-4));
        }
        if (isWhole) {
            assertThat(near.size()).isEqualTo(10);
            assertThat(table.diskStats().damagedPages()).isEmpty();
        }
    }

    @Property(tries = 100)
    void aTableOfRightChecksumsIsRefusedOrUsed(
            @ForAll @IntRange(max = 5) int part, @ForAll @Size(min = 1, max = 3) List<@From("inPlace") Damage> all)
            throws Exception {
        byte[] table = after.table;
        int[] area = area(part);
        for (Damage damage : all) {
            table = damage.in(table, area[0], area[1], BLOCK);
        }
        sign(table);
        write(after.with(0, table));
        refusedOrUsed();
    }

    @Property(tries = 60)
    void logsOfRightChecksumsAreRefusedOrDone(
            @ForAll boolean isDuring,
            @ForAll @IntRange(min = 1, max = 2) int which,
            @ForAll @Size(min = 1, max = 3) List<@From("inPlace") Damage> all)
            throws Exception {
        Left good = isDuring ? during : after;
        byte[] log = good.part(which);
        for (Damage damage : all) {
            // Most of a block is zero.
            int blocks = log.length / BLOCK;
            int block = (int) (damage.other() * blocks);
            log = damage.in(log, block * BLOCK, block * BLOCK + 128, 1);
        }
        signLog(log);
        write(good.with(which, log));
        refusedOrUsed();
    }

    @Example
    void aMapThatLeadsOutOfTheFileIsRefused() throws IOException {
        int map = area(2)[0];
        for (int block : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1, after.table.length / BLOCK}) {
            byte[] table = after.table.clone();
            ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN).putInt(map, block);
            refused(table, "has a map of blocks that are not between");
        }
    }

    @Example
    void sizesAreComparedWithTheFileBeforeMemoryIsTaken() throws IOException {
        byte[] table = after.table.clone();
        // Nodes: maps of more blocks than an int counts, or row blocks that the file does not have.
        ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN).putInt(area(0)[0] + 48, 1_000_000_000);
        refused(table, "and should have");
        table = after.table.clone();
        ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN).putInt(area(0)[0] + 48, 20_000);
        refused(table, "and should have");
    }

    @Example
    void aMetricThatNoTableOnDiskHasIsNotTaken() throws IOException {
        byte[] table = after.table.clone();
        int at = area(0)[0];
        ByteBuffer bytes = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(at + 44, Metric.INNER_PRODUCT.ordinal());
        bytes.putInt(at + BLOCK - 4, checksum(table, at, BLOCK - 4));
        write(after.with(0, table));
        // Its superblock is none, and the one before is of the table that was built.
        try (DiskTable older = DiskTable.openReadOnly(orchestrator, io, "fuzzed", file)) {
            assertThat(older.metric()).isEqualTo(Metric.SQUARED_L2);
            assertThat(older.size()).isEqualTo(BUILT);
        }
    }

    private static void refused(byte[] table, String why) throws IOException {
        sign(table);
        write(after.with(0, table));
        assertThatThrownBy(() -> DiskTable.openReadOnly(orchestrator, io, "fuzzed", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageContaining(why);
        assertNothingIsOpen();
    }

    @Example
    void aPageWithAnImpossibleNodeIsFoundByVerifyAndLeftOutOfUpdates() throws Exception {
        Superblock root = newest(after.table);
        DiskLayout layout = root.layout();
        MemorySegment map = MemorySegment.ofArray(after.table).asSlice((long) root.mapBlock() * BLOCK);
        byte[] table = after.table.clone();
        ByteBuffer bytes = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
        for (int page = 0; page < layout.pages(root.nodes()); page++) {
            int at = map.get(DiskLayout.INT, (long) page * Integer.BYTES) * BLOCK;
            bytes.putInt(at + (int) layout.neighborCountOffset(layout.offsetInPage(layout.firstNode(page))), -1);
        }
        sign(table);
        write(after.with(0, table));
        try (MutableDiskTable opened = DiskTable.open(orchestrator, io, "fuzzed", file)) {
            assertThatThrownBy(opened::verify)
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining("has a damaged page 0");
            assertThat(opened.put(5, ROWS.query(1))).isTrue();
            assertThat(opened.vector(5)).isEqualTo(ROWS.query(1));
        }
    }

    @Example
    void aVectorOfALogThatIsNotFiniteIsRefused() throws IOException {
        byte[] log = after.log1.clone();
        // Of the first update, behind the empty group.
        ByteBuffer.wrap(log).order(ByteOrder.LITTLE_ENDIAN).putInt(BLOCK + 40 + 9, 0x7fc00000);
        signLog(log);
        write(after.with(2, log));
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "fuzzed", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageStartingWith(log(1) + " holds a vector that is not finite");
        assertNothingIsOpen();
    }

    /** A part of the file that may be damaged: superblocks, map, row blocks, pages; or all of it. */
    private static int[] area(int part) {
        Superblock root = newest(after.table);
        return switch (part) {
            case 0, 1 -> {
                int at = Superblock.blockOf(root.sequence()) * BLOCK;
                yield new int[] {at, at + 72};
            }
            case 2 -> {
                int at = root.mapBlock() * BLOCK;
                int places = root.layout().pages(root.nodes()) + root.layout().rowBlocks(root.nodes());
                yield new int[] {at, at + places * Integer.BYTES};
            }
            case 3 -> {
                MemorySegment map = MemorySegment.ofArray(after.table).asSlice((long) root.mapBlock() * BLOCK);
                int at = map.get(DiskLayout.INT, (long) root.layout().pages(root.nodes()) * Integer.BYTES) * BLOCK;
                yield new int[] {
                    at,
                    at
                            + DiskLayout.PAGE_HEADER_BYTES
                            + root.nodes() * root.layout().rowBytes()
                };
            }
            case 4 -> new int[] {root.layout().firstFreeBlock() * BLOCK, after.table.length};
            default -> new int[] {0, after.table.length};
        };
    }

    private static Superblock newest(byte[] table) {
        Superblock newest = null;
        for (int i = 0; i < DiskLayout.SUPERBLOCKS; i++) {
            Superblock read = Superblock.read(MemorySegment.ofArray(table).asSlice((long) i * BLOCK, BLOCK));
            if (read != null && (newest == null || read.sequence() > newest.sequence())) {
                newest = read;
            }
        }
        return Objects.requireNonNull(newest);
    }

    /** Gives every block, and the superblocks, the checksums of what is there. */
    private static void sign(byte[] table) {
        Superblock good = newest(after.table);
        ByteBuffer bytes = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
        int slot = Superblock.blockOf(good.sequence()) * BLOCK;
        int blocks = table.length / BLOCK;
        int map = bytes.getInt(slot + 56);
        if (map < good.layout().firstFreeBlock() || map >= blocks) {
            map = good.mapBlock();
        }
        for (int block = good.layout().firstFreeBlock(); block < blocks; block++) {
            if (block != map) {
                bytes.putInt(block * BLOCK, checksum(table, block * BLOCK + 4, BLOCK - 4));
            }
        }
        bytes.putInt(slot + 60, checksum(table, map * BLOCK, BLOCK));
        for (int at : new int[] {0, BLOCK}) {
            int centroids = good.layout().centroidBlocks() * BLOCK;
            bytes.putInt(at + 64, checksum(table, DiskLayout.SUPERBLOCKS * BLOCK, centroids));
            bytes.putInt(at + BLOCK - 4, checksum(table, at, BLOCK - 4));
        }
    }

    private static void signLog(byte[] log) {
        ByteBuffer bytes = ByteBuffer.wrap(log).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < log.length; at += BLOCK) {
            bytes.putInt(at + 32, at == 0 ? 0 : bytes.getInt(at - BLOCK));
            bytes.putInt(at, checksum(log, at + 4, BLOCK - 4));
        }
    }

    private static int checksum(byte[] of, int at, int count) {
        return Checksum.of(MemorySegment.ofArray(of).asSlice(at, count));
    }

    private static void refusedOrUsed() throws Exception {
        try (DiskTable table = DiskTable.openReadOnly(orchestrator, io, "fuzzed", file)) {
            use(table);
        } catch (IOException refused) {
            assertNamed(refused);
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "fuzzed", file)) {
            use(table);
            update(() -> table.put(5, ROWS.query(1)));
            update(() -> table.put(Rows.id(BUILT), ROWS.query(2)));
            update(() -> table.remove(Rows.id(3)));
            use(table);
        } catch (IOException refused) {
            assertNamed(refused);
        }
        assertNothingIsOpen();
    }

    private static void update(Runnable update) {
        try {
            update.run();
        } catch (UncheckedIOException failed) {
            assertThat(failed).hasMessageContaining("fuzzed");
        } catch (IllegalArgumentException refused) {
            assertThat(refused).hasMessageContaining("dimension");
        }
    }

    private static void use(DiskTable table) throws Exception {
        boolean isWhole = isWhole(table);
        for (int row = 0; row < ROWS.vectors().length; row++) {
            table.vector(Rows.id(row));
        }
        float[] query = Arrays.copyOf(ROWS.query(3), table.dimension());
        SearchResult near = table.search(query, 10, 200).get(60, TimeUnit.SECONDS);
        assertThat(near.size()).isBetween(0, 10);
        if (isWhole) {
            assertThat(table.diskStats().damagedPages()).isEmpty();
        }
    }

    private static boolean isWhole(DiskTable table) throws IOException {
        try {
            table.verify();
            return true;
        } catch (FileFormatException damaged) {
            assertNamed(damaged);
            return false;
        }
    }

    private static void write(Left left) throws IOException {
        Files.write(file, left.table);
        Files.write(log(0), left.log0);
        Files.write(log(1), left.log1);
    }

    private static void assertNamed(@Nullable Throwable refused) {
        assertThat(refused).hasMessageContaining(file.toString());
    }

    private static void assertNothingIsOpen() throws IOException {
        Path descriptors = Path.of("/proc/self/fd");
        if (Files.isDirectory(descriptors)) {
            try (Stream<Path> all = Files.list(descriptors)) {
                assertThat(all.map(FuzzedTableTest::target)).noneMatch(open -> open.startsWith(folder.toString()));
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
