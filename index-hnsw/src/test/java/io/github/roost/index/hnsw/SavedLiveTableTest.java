package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SavedLiveTableTest {
    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    /** Ids that are alive at once in a table whose rows are put and removed in turn. */
    private static final int WINDOW = 300;

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("table");
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private static LiveTable.Builder small() {
        return LiveTable.builder().m(6).efConstruction(30).mergeAfter(64);
    }

    /** A part with a graph of 770 rows and 30 without one, of both a fifth removed. */
    private static LiveTable mixed(Metric metric, float[][] rows) {
        LiveTable table = small().metric(metric)
                .build(ORCHESTRATOR, LongStream.range(0, 770).toArray(), Arrays.copyOf(rows, 770));
        for (int row = 770; row < 800; row++) {
            table.put(row, rows[row]);
        }
        for (int row = 0; row < 800; row += 5) {
            table.remove(row);
        }
        return table;
    }

    private static float[][] rowsWithEqualOnes(int dimension) {
        float[][] rows = gaussian(800, dimension, new Random(71));
        for (int row = 0; row < 40; row++) {
            rows[700 + row] = rows[row];
        }
        return rows;
    }

    private void saveSmall() throws Exception {
        try (LiveTable table = mixed(Metric.SQUARED_L2, rowsWithEqualOnes(5))) {
            table.save(file);
        }
    }

    private LiveTable open() throws IOException {
        return LiveTable.open(ORCHESTRATOR, "opened", file);
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void anOpenedTableAnswersAsTheSavedOne(Metric metric) throws Exception {
        try (LiveTable saved = mixed(metric, rowsWithEqualOnes(7))) {
            saved.save(file);
            try (LiveTable opened = open()) {
                assertThat(opened.size()).isEqualTo(640);
                assertThat(opened.metric()).isEqualTo(metric);
                assertThat(opened.dimension()).isEqualTo(7);
                assertThat(opened.graphParts()).isEqualTo(saved.graphParts());
                for (float[] query : gaussian(50, 7, new Random(72))) {
                    assertThat(opened.search(query, 10, 30).join())
                            .isEqualTo(saved.search(query, 10, 30).join());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = ElementType.class, names = "FLOAT16", mode = EnumSource.Mode.EXCLUDE)
    void anOpenedTableKeepsItsOptions(ElementType elementType) throws Exception {
        float[][] rows = gaussian(1_500, 24, new Random(79));
        try (LiveTable saved = small().elementType(elementType)
                .metric(Metric.COSINE)
                .build(ORCHESTRATOR, LongStream.range(0, rows.length).toArray(), rows)) {
            saved.put(2_000, rows[3]);
            saved.save(file);
            try (LiveTable opened = open()) {
                assertThat(opened.snapshot().options())
                        .isEqualTo(saved.snapshot().options());
                assertThat(opened.search(rows[7], 10, 30).join())
                        .isEqualTo(saved.search(rows[7], 10, 30).join());
                opened.merge();
                opened.save(file);
            }
            try (LiveTable again = open()) {
                assertThat(again.size()).isEqualTo(1_501);
                assertThat(again.search(rows[7], 10, 30).join().ids()[0]).isEqualTo(7);
            }
        }
    }

    @Test
    void anOpenedTableIsLive() throws Exception {
        float[][] rows = rowsWithEqualOnes(6);
        try (LiveTable saved = mixed(Metric.SQUARED_L2, rows)) {
            saved.save(file);
        }
        try (LiveTable opened = open()) {
            Files.delete(file);
            float[][] more = Arrays.copyOf(rows, 1_000);
            System.arraycopy(gaussian(200, 6, new Random(73)), 0, more, 800, 200);
            for (int row = 800; row < 1_000; row++) {
                assertThat(opened.put(row, more[row])).isTrue();
            }
            more[3] = more[999].clone();
            assertThat(opened.put(3, more[3])).isFalse();
            assertThat(opened.remove(4)).isTrue();
            assertThat(opened.remove(5)).isFalse();
            for (int merges = 0; merges < 2; merges++) {
                for (float[] query : gaussian(20, 6, new Random(74))) {
                    SearchResult truth =
                            exact(more, query, 20, Metric.SQUARED_L2, id -> id != 4 && (id % 5 != 0 || id >= 800));
                    assertThat(opened.search(query, 20, 1_000).join().ids()).isEqualTo(truth.ids());
                }
                opened.merge();
            }
        }
    }

    /** As when a table is saved that takes more rows than can be merged. */
    @Test
    void rowsThatWaitForAMergeAreSavedToo() throws Exception {
        float[][] rows = gaussian(300, 4, new Random(75));
        CountDownLatch mergesMayGoOn = new CountDownLatch(1);
        try (Orchestrator busy = Fixtures.roundRobin();
                LiveTable table = small().build(busy, 4)) {
            Fixtures.keepWorkers(busy, table.mappingId(), mergesMayGoOn);
            for (int row = 0; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            table.save(file);
            assertThat(table.graphParts()).isZero();
            mergesMayGoOn.countDown();
        }
        try (LiveTable opened = open()) {
            assertThat(ids(opened)).isEqualTo(LongStream.range(0, 300).boxed().toList());
            opened.merge();
            assertThat(ids(opened)).isEqualTo(LongStream.range(0, 300).boxed().toList());
        }
    }

    private static List<Long> ids(LiveTable table) {
        SearchResult all =
                table.search(new float[table.dimension()], 10_000, 100_000).join();
        return Arrays.stream(all.ids()).sorted().boxed().toList();
    }

    @Test
    void tablesWithoutRowsAreSavedToo() throws Exception {
        try (LiveTable table = small().build(ORCHESTRATOR, 3)) {
            table.save(file);
            try (LiveTable opened = open()) {
                assertThat(opened.size()).isZero();
                opened.put(9, new float[] {1, 2, 3});
                assertThat(ids(opened)).containsExactly(9L);
                opened.remove(9);
                opened.save(file);
            }
            try (LiveTable opened = open()) {
                assertThat(opened.size()).isZero();
                assertThat(ids(opened)).isEmpty();
            }
        }
    }

    /** Puts ids in ascending order, and removes those that are a window behind. */
    private static void slide(LiveTable table, long id) {
        table.put(id, place(id));
        table.remove(id - WINDOW);
    }

    private static float[] place(long id) {
        return gaussian(1, 16, new Random(id))[0];
    }

    /** Whether a table holds what it held at one moment of its sliding; returns the last id. */
    private static long assertIsOneSnapshot(LiveTable table) {
        List<Long> ids = ids(table);
        long last = ids.getLast();
        assertThat(ids.size()).isBetween(WINDOW, WINDOW + 1);
        assertThat(ids)
                .isEqualTo(LongStream.rangeClosed(ids.getFirst(), last).boxed().toList());
        for (long id = last - WINDOW + 1; id <= last; id += 7) {
            SearchResult found = table.search(place(id), 1, 10_000).join();
            assertThat(found).isEqualTo(new SearchResult(new long[] {id}, new float[1]));
        }
        return last;
    }

    /** Fails if parts, or which of their rows are alive, are noted while a change is made, or belong to the table still. */
    @Tag("stress")
    @Test
    void aSaveIsOfOneMomentWhileChangesGoOn() throws Exception {
        AtomicLong lastPut = new AtomicLong(WINDOW);
        AtomicBoolean done = new AtomicBoolean();
        try (LiveTable table = small().build(ORCHESTRATOR, 16);
                ExecutorService threads = Executors.newFixedThreadPool(1)) {
            for (int id = 1; id <= WINDOW; id++) {
                slide(table, id);
            }
            Future<?> writer = threads.submit(() -> {
                for (long id = WINDOW + 1; !done.get(); id++) {
                    slide(table, id);
                    lastPut.set(id);
                }
            });
            try {
                for (int look = 0; look < 1_000; look++) {
                    assertIsOneSnapshot(table.snapshot());
                }
                for (int save = 0; save < 5; save++) {
                    long before = lastPut.get();
                    table.save(file);
                    long after = lastPut.get() + 1;
                    try (LiveTable opened = open()) {
                        assertThat(assertIsOneSnapshot(opened)).isBetween(before, after);
                    }
                }
            } finally {
                done.set(true);
                writer.get();
            }
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    private static void assertIsOneSnapshot(LiveTableFile snapshot) {
        long[] ids = snapshot.parts().stream()
                .flatMapToLong(part ->
                        IntStream.range(0, part.rows()).filter(part::isAlive).mapToLong(part.image()::id))
                .sorted()
                .toArray();
        assertThat(ids.length).isBetween(WINDOW, WINDOW + 1);
        assertThat(ids[ids.length - 1] - ids[0]).isEqualTo(ids.length - 1);
    }

    /** Saves a table again and again while its rows change, until it is killed; run in a JVM of its own. */
    static final class SavesForever {
        private SavesForever() {}

        public static void main(String[] arguments) throws Exception {
            try (Orchestrator orchestrator = Orchestrator.builder()
                            .topology(Fixtures.twoDomains())
                            .build();
                    LiveTable table = small().build(orchestrator, 16)) {
                for (int id = 1; id <= WINDOW; id++) {
                    slide(table, id);
                }
                var _ = CompletableFuture.runAsync(() -> {
                    for (long id = WINDOW + 1; true; id++) {
                        slide(table, id);
                    }
                });
                while (true) {
                    table.save(Path.of(arguments[0]));
                    System.out.println("saved");
                }
            }
        }
    }

    @Tag("program")
    @Test
    void aKillAtAnyPointOfASaveLeavesAWholeTable() throws Exception {
        Random random = new Random(76);
        for (int trial = 0; trial < Effort.times(3); trial++) {
            Process process = new ChildJvm(SavesForever.class)
                    .with("--add-modules=jdk.incubator.vector", "-XX:TieredStopAtLevel=1")
                    .startQuietly(file.toString());
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(lines.readLine()).isEqualTo("saved");
                // Somewhere within the next few saves.
                LockSupport.parkNanos(random.nextInt(30_000_000));
                process.destroyForcibly().waitFor();
            }
            try (LiveTable table = open()) {
                assertIsOneSnapshot(table);
            }
        }
    }

    @Test
    void everyChangedByteIsNoticed() throws Exception {
        saveSmall();
        byte[] good = Files.readAllBytes(file);
        Random random = new Random(77);
        for (int trial = 0; trial < 400; trial++) {
            byte[] bad = good.clone();
            int at = trial < 200 ? trial : random.nextInt(bad.length);
            bad[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, bad);
            assertThatThrownBy(this::open)
                    .describedAs("byte %d", at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("at byte");
        }
    }

    @Test
    void everyTruncationIsNoticed() throws Exception {
        saveSmall();
        byte[] good = Files.readAllBytes(file);
        for (int length : new int[] {0, 1, 47, 55, 56, 100, 4_095, 4_096, 5_000, good.length - 8, good.length - 1}) {
            Files.write(file, Arrays.copyOf(good, length));
            assertThatThrownBy(this::open)
                    .describedAs("%d bytes", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString());
        }
        Files.write(file, Arrays.copyOf(good, good.length + 1));
        assertThatThrownBy(this::open).hasMessageContaining("length of " + (good.length + 1));
    }

    /** Files whose checksums are right and whose numbers are not. */
    @ParameterizedTest
    @CsvSource({
        "8, 7, version 7",
        "12, 1000000000, front of 1000000000",
        "12, -1, front of -1",
        "12, 4096, front of 4096",
        "16, 9, metric of 9",
        "16, 1, has a part of 5 under",
        "20, 0, dimension of 0",
        "20, 6, has a part of 5 under",
        "24, 1, m of 1",
        "28, 0, efConstruction of 0",
        "32, 2, mergeAfter of 2",
        "36, -1, parts of -1",
        "40, 2, element type of 2",
        "36, 1, checksum of",
        "36, 3, too short for its parts",
        "48, 8192, part of 8192",
        "56, -1, too short for a part of -1",
        "56, 1000000000, too short for a part of 1000000000",
        "64, 0, rows of 0",
        "64, 771, rows of 771, it must be 770",
        "64, 2000000000, too short for its parts",
        "68, 1, mark that is not known of 1"
    })
    void forgedNumbersAreRefused(int at, long value, String message) throws Exception {
        saveSmall();
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int front = bytes.getInt(12);
        if (at == 48 || at == 56) {
            bytes.putLong(at, value);
        } else {
            bytes.putInt(at, (int) value);
        }
        sign(bytes, 0, front);
        Files.write(file, bytes.array());
        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining(message);
    }

    @Test
    void aRowAliveBeyondTheLastIsRefused() throws Exception {
        saveSmall();
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int row = bytes.getInt(64) - 1;
        while (row % Long.SIZE == 0 || (bytes.getLong(72 + row / Long.SIZE * Long.BYTES) >>> row & 1) == 0) {
            row--;
        }
        bytes.putInt(64, row);
        sign(bytes, 0, bytes.getInt(12));
        Files.write(file, bytes.array());
        assertThatThrownBy(this::open)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("alive after the last of " + row);
    }

    /** Images that only a graph is built over, in a part without one. */
    @ParameterizedTest
    @CsvSource({
        "false, 2, 0, nodes without a graph of 2",
        "true, 3, 0, codes without a graph of 1",
        "false, 3, 1, layers without a graph of 1"
    })
    void aPartWithoutAGraphThatIsNotPlainIsRefused(boolean coded, int nodes, int levels, String message)
            throws Exception {
        int[] levelCounts = new int[levels];
        Arrays.fill(levelCounts, 1);
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(Metric.SQUARED_L2, coded, 5, 0, 0, nodes, 3, 0, 0, levelCounts));
        for (int row = 0; row < 3; row++) {
            image.setId(row, row);
        }
        image.setFirstRow(1, 1);
        image.setFirstRow(nodes, 3);
        GraphOptions options = new GraphOptions(Metric.SQUARED_L2, ElementType.FLOAT32, 6, 30);
        new LiveTableFile(options, 5, 64, List.of(new LiveRows.RowsSnapshot(image, 3, new long[] {7}))).save(file);
        assertThatThrownBy(this::open).isInstanceOf(FileFormatException.class).hasMessageContaining(message);
    }

    /** Rows without a graph. */
    private static LiveRows.RowsSnapshot plain(Metric metric, long firstId, float... values) {
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(metric, false, 1, 0, 0, values.length, values.length, 0, 0, new int[0]));
        for (int row = 0; row < values.length; row++) {
            image.setVector(row, new float[] {values[row]});
            image.setId(row, firstId + row);
        }
        return new LiveRows.RowsSnapshot(image, values.length, new long[] {(1L << values.length) - 1});
    }

    /** At the next merge its scale would be that of all rows it is built with, whose distances would become nothing. */
    @Test
    void aRowThatIsNoNumberIsRefused() throws Exception {
        GraphOptions options = new GraphOptions(Metric.SQUARED_L2, ElementType.FLOAT32, 6, 30);
        new LiveTableFile(options, 1, 64, List.of(plain(Metric.SQUARED_L2, 5, 1, Float.NaN, 3))).save(file);
        assertThatThrownBy(this::open)
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("value of a node of NaN");
    }

    /** It has no length to be divided by: merged it would be no number, and the table saved with it could not be opened. */
    @Test
    void aRowWithoutACosineIsNotMerged() throws Exception {
        GraphOptions options = new GraphOptions(Metric.COSINE, ElementType.INT8, 6, 30);
        new LiveTableFile(options, 1, 64, List.of(plain(Metric.COSINE, 5, 1, 0, -1))).save(file);
        try (LiveTable opened = open()) {
            assertThatThrownBy(opened::merge)
                    .isInstanceOf(IllegalStateException.class)
                    .hasStackTraceContaining("row of id 6 must not be zero");
            opened.remove(6);
            opened.merge();
            opened.save(file);
        }
        try (LiveTable again = open()) {
            assertThat(again.search(new float[] {1}, 3, 10).join().ids()).containsExactly(5, 7);
        }
    }

    /** There may be many of them, and each would take room for as many as may be added before they are merged. */
    @Test
    void onlyTheLastPartHasRoomForMoreRows() throws Exception {
        GraphOptions options = new GraphOptions(Metric.SQUARED_L2, ElementType.FLOAT32, 6, 30);
        new LiveTableFile(
                        options,
                        1,
                        LiveTable.MAX_MERGE_AFTER,
                        List.of(
                                plain(Metric.SQUARED_L2, 1, 1, 2),
                                plain(Metric.SQUARED_L2, 3, 3),
                                plain(Metric.SQUARED_L2, 4, 4)))
                .save(file);
        CountDownLatch mergesMayGoOn = new CountDownLatch(1);
        try (Orchestrator busy = Fixtures.roundRobin();
                LiveTable other = small().build(busy, 1)) {
            Fixtures.keepWorkers(busy, other.mappingId(), mergesMayGoOn);
            try (LiveTable opened = LiveTable.open(busy, "opened", file)) {
                assertThat(opened.snapshot().parts())
                        .extracting(part -> part.image().shape().rows())
                        .containsExactly(2, 1, LiveTable.MAX_MERGE_AFTER);
            } finally {
                mergesMayGoOn.countDown();
            }
        }
    }

    private static void sign(ByteBuffer bytes, int from, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(from, length - 8));
        bytes.putLong(from + length - 8, checksum.getValue());
    }

    @Test
    void anIdThatIsThereTwiceIsRefused() throws Exception {
        try (LiveTable table = small().build(ORCHESTRATOR, 2)) {
            for (int id = 0; id < 3; id++) {
                table.put(id, new float[] {id, 1});
            }
            table.save(file);
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int idOfLast = bytes.capacity() - 16;
        assertThat(bytes.getLong(idOfLast)).isEqualTo(2);
        bytes.putLong(idOfLast, 1);
        sign(bytes, 4_096, bytes.capacity() - 4_096);
        Files.write(file, bytes.array());
        assertThatThrownBy(this::open).hasMessageContaining("two rows of one id");
    }

    @Test
    void foreignFilesAreRefused() throws Exception {
        Files.write(file, new byte[10_000]);
        assertThatThrownBy(this::open).hasMessageContaining("it begins with 0000");
        try (HnswTable fixed = HnswTable.builder().build(ORCHESTRATOR, gaussian(20, 3, new Random(78)))) {
            fixed.save(file);
        }
        assertThatThrownBy(this::open)
                .hasMessageContaining("is an HNSW table, not a live HNSW table: use HnswTable.open");
        saveSmall();
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "live", file))
                .hasMessageContaining("is a live HNSW table, not an HNSW table: use LiveTable.open");
    }
}
