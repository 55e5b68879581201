package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Effort;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class SavedIvfTest {
    private static final Orchestrator ORCHESTRATOR = orchestrator();
    private static final int DIMENSION = 7;
    private static final int ROWS = 300;
    private static final int LISTS = 5;
    private static final int HEAD_BYTES = 72;
    /** Where the checksum of all but the vectors lies in the file of {@link #saveSmall}. */
    private static final int CHECKSUM_AT = HEAD_BYTES + LISTS * 8 + LISTS * DIMENSION * 4 + ROWS * 8;

    @TempDir
    private Path folder;

    private Path file;

    private static Orchestrator orchestrator() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
    }

    @BeforeEach
    void name() {
        file = folder.resolve("table");
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private void saveSmall() throws IOException {
        try (IvfTable table =
                Kept.FLOATS.builder().nlist(LISTS).build(ORCHESTRATOR, gaussian(ROWS, DIMENSION, new Random(1)))) {
            table.save(file);
        }
    }

    static Stream<Arguments> metricsAndKept() {
        return Arrays.stream(Metric.values())
                .flatMap(metric -> Arrays.stream(Kept.values()).map(kept -> Arguments.of(metric, kept)));
    }

    @ParameterizedTest
    @MethodSource("metricsAndKept")
    void anOpenedTableAnswersAsTheSavedOneAndChangesWithoutTheFile(Metric metric, Kept kept) throws IOException {
        Random random = new Random(2);
        try (IvfTable saved = kept.builder()
                .metric(metric)
                .nlist(9)
                .nprobe(4)
                .build(ORCHESTRATOR, gaussian(800, DIMENSION, random))) {
            for (long id = 0; id < 100; id++) {
                saved.remove(id);
                saved.add(10_000 + id, gaussian(1, DIMENSION, random)[0]);
                saved.update(200 + id, gaussian(1, DIMENSION, random)[0]);
            }
            saved.save(file);
            byte[] bytes = Files.readAllBytes(file);
            assertThat(file.toFile().setWritable(false)).isTrue();
            try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "opened", file)) {
                assertThat(opened.size()).isEqualTo(800);
                assertThat(opened.nprobe()).isEqualTo(4);
                assertThat(opened.elementType()).isEqualTo(saved.elementType());
                assertSameAnswers(opened, saved, 4, random);
                for (IvfTable table : new IvfTable[] {saved, opened}) {
                    Random same = new Random(3);
                    for (long id = 300; id < 500; id++) {
                        table.remove(id);
                        table.add(20_000 + id, gaussian(1, DIMENSION, same)[0]);
                    }
                    // Moves all rows to lists: until then they have floats, even if lists have codes alone.
                    table.save(folder.resolve("other"));
                }
                // Of all lists: rows that are in no list yet are found whatever is probed.
                assertSameAnswers(opened, saved, 9, random);
                opened.rebuild().join();
                assertThat(opened.size()).isEqualTo(800);
            }
            assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void anEmptyTableIsSavedAndFilledAgain(Kept kept) throws IOException {
        float[][] rows = gaussian(5, DIMENSION, new Random(9));
        try (IvfTable saved = kept.builder().nlist(2).build(ORCHESTRATOR, rows)) {
            for (long id = 0; id < rows.length; id++) {
                saved.remove(id);
            }
            saved.save(file);
        }
        try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "opened", file)) {
            assertThat(opened.size()).isZero();
            assertThat(opened.search(rows[0], 3, 2).join().size()).isZero();
            opened.add(7, rows[0]);
            assertThat(opened.search(rows[0], 3, 2).join().ids()).containsExactly(7);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void whatMeetsADamagedListFailsAndChangesNothing(Kept kept) throws IOException {
        float[][] rows = gaussian(ROWS, DIMENSION, new Random(1));
        try (IvfTable saved = kept.builder().nlist(LISTS).build(ORCHESTRATOR, rows)) {
            saved.save(file);
        }
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] ^= 1;
        Files.write(file, bytes);
        try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "damaged", file)) {
            int removed = 0;
            for (long id = 0; id < ROWS; id++) {
                long ofThis = id;
                try {
                    opened.update(id, rows[(int) id]);
                    assertThat(opened.remove(id)).isTrue();
                    removed++;
                } catch (UncheckedIOException damaged) {
                    assertThatThrownBy(() -> opened.remove(ofThis)).isInstanceOf(UncheckedIOException.class);
                    assertThatThrownBy(() -> opened.add(ofThis, rows[0])).hasMessageContaining("in the table already");
                }
            }
            assertThat(removed).isBetween(1, ROWS - 1);
            assertThat(opened.size()).isEqualTo(ROWS - removed);
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(() -> opened.rebuild().join()).hasStackTraceContaining("is damaged");
            }
            assertThatThrownBy(() -> opened.save(folder.resolve("copy"))).isInstanceOf(FileFormatException.class);
        }
    }

    private static void assertSameAnswers(IvfTable one, IvfTable other, int nprobe, Random random) {
        for (float[] query : gaussian(30, DIMENSION, random)) {
            assertThat(one.search(query, 10, nprobe).join())
                    .isEqualTo(other.search(query, 10, nprobe).join());
        }
    }

    @Test
    void anOpenTableOutlivesItsFileAndASaveLeavesNothingElse() throws IOException {
        saveSmall();
        saveSmall();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
        try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "opened", file)) {
            Files.delete(file);
            assertThat(opened.search(new float[DIMENSION], 10, LISTS).join().size())
                    .isEqualTo(10);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void everyChangedByteIsNoticedBeforeItIsBelieved(Kept kept) throws IOException {
        try (IvfTable table =
                kept.builder().nlist(LISTS).build(ORCHESTRATOR, gaussian(ROWS, DIMENSION, new Random(1)))) {
            table.save(file);
        }
        byte[] good = Files.readAllBytes(file);
        int checksumEnd = CHECKSUM_AT + 8 + kept.codecBytes(LISTS, DIMENSION);
        int padded = (checksumEnd + 63) / 64 * 64;
        Random random = new Random(4);
        for (int trial = 0; trial < 250; trial++) {
            int at = trial < 100 ? trial : random.nextInt(good.length);
            if (at >= checksumEnd && at < padded) {
                continue;
            }
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << random.nextInt(8));
            // Another file each time: one that is mapped must not be overwritten in place.
            Path changed = Files.write(folder.resolve("changed-" + trial), bad);
            assertThatThrownBy(() -> {
                        try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "bad", changed)) {
                            opened.search(new float[DIMENSION], 10, LISTS).join();
                        }
                    })
                    .as("byte %d", at)
                    .satisfies(thrown -> assertThat(Stream.iterate(thrown, t -> t != null, Throwable::getCause))
                            .anyMatch(FileFormatException.class::isInstance))
                    .hasStackTraceContaining(changed.toString())
                    .hasStackTraceContaining("at byte");
        }
    }

    @Test
    void everyTruncationIsNoticed() throws IOException {
        saveSmall();
        byte[] good = Files.readAllBytes(file);
        for (int length : new int[] {0, 1, 63, 72, 200, CHECKSUM_AT, good.length - 4, good.length - 1}) {
            Path cut = Files.write(folder.resolve("cut-" + length), Arrays.copyOf(good, length));
            assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "short", cut))
                    .as("length %d", length)
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining(cut.toString());
        }
        Path longer = Files.write(folder.resolve("longer"), Arrays.copyOf(good, good.length + 4));
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "long", longer)).isInstanceOf(FileFormatException.class);
    }

    /** Files whose checksum is right and whose numbers are not. */
    @ParameterizedTest
    @CsvSource({
        "8, 1, of version 1",
        "12, 9, metric of 9",
        "16, 0, dimension of 0",
        "16, 5000, dimension of 5000",
        "20, 0, number of lists of 0",
        "20, 200000, number of lists of 200000",
        "24, 0, nprobe of 0",
        "40, -1, number of rows of",
        "28, 9, element type of 9",
        "28, 1, its 300 rows end at",
        "40, 301, is damaged",
        "52, 1, is damaged",
        "52, 2, mark of codes of 2",
        "48, 0, mark of floats of 0",
        "60, -1, rerank of NaN",
        "68, -1, target recall of NaN",
        "72, -1, list of rows of -1",
        "72, 301, list of rows of 301",
        "72, 0, total of rows in lists",
        "112, 2143289344, centroid of NaN",
        "248, 2139095040, centroid of Infinity",
    })
    void forgedNumbersAreRefused(int at, int value, String message) throws IOException {
        saveSmall();
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(at, value);
        sign(bytes, CHECKSUM_AT);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "forged", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining(message);
    }

    private static void sign(ByteBuffer bytes, int checksumAt) {
        bytes.putLong(checksumAt, checksum(bytes, 0, checksumAt));
    }

    private static long checksum(ByteBuffer bytes, int from, int to) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(from, to - from));
        return checksum.getValue();
    }

    @ParameterizedTest
    @CsvSource({
        "0, NaN, center of codes of NaN",
        "24, Infinity, center of codes of Infinity",
    })
    void whatBytesCannotStandForIsRefused(int at, float value, String message) throws IOException {
        try (IvfTable table =
                Kept.CODES.builder().nlist(LISTS).build(ORCHESTRATOR, gaussian(ROWS, DIMENSION, new Random(1)))) {
            table.save(file);
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putFloat(HEAD_BYTES + LISTS * 8 + LISTS * DIMENSION * 4 + at, value);
        sign(bytes, CHECKSUM_AT + Kept.CODES.codecBytes(LISTS, DIMENSION));
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "forged", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"0, NaN", "8, Infinity", "8, -1.0"})
    void aLossThatNoRowCanHaveIsRefused(int at, double value) throws IOException {
        try (IvfTable table = Kept.CODED_FLOATS
                .builder()
                .nlist(LISTS)
                .build(ORCHESTRATOR, gaussian(ROWS, DIMENSION, new Random(1)))) {
            table.save(file);
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putDouble(HEAD_BYTES + LISTS * 8 + LISTS * DIMENSION * 4 + DIMENSION * 4 + at, value);
        sign(bytes, CHECKSUM_AT + Kept.CODED_FLOATS.codecBytes(LISTS, DIMENSION));
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "forged", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("loss of " + value);
    }

    /** Were it taken for one that was removed, a copy of the table would have a row too many, of no id. */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void aRowThatIsNoNumberIsRefusedWhenItIsFirstTouched(Kept kept) throws IOException {
        try (IvfTable table = kept.builder().nlist(1).build(ORCHESTRATOR, gaussian(ROWS, DIMENSION, new Random(1)))) {
            table.save(file);
        }
        byte[] good = Files.readAllBytes(file);
        int checksumAt = HEAD_BYTES + 8 + DIMENSION * 4 + ROWS * 8 + kept.codecBytes(1, DIMENSION);
        int blocks = (checksumAt + 8 + 63) / 64 * 64;
        // The first component of a row, and one in its midst; of rows of bytes alone the term, behind all bytes.
        int first = kept == Kept.CODES ? good.length - 64 : blocks + 5 * 64;
        for (int at : new int[] {first, first + 4}) {
            for (float value : new float[] {Float.NaN, Float.NEGATIVE_INFINITY}) {
                ByteBuffer bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
                if (kept == Kept.HALVES) {
                    bytes.putShort(at, Float.floatToFloat16(value));
                } else {
                    bytes.putFloat(at, value);
                }
                bytes.putInt(HEAD_BYTES + 4, (int) checksum(bytes, blocks, good.length));
                sign(bytes, checksumAt);
                Path forged = Files.write(folder.resolve("forged-" + at + value), bytes.array());
                try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "forged", forged)) {
                    assertThatThrownBy(() ->
                                    opened.search(new float[DIMENSION], 10, 1).join())
                            .hasStackTraceContaining("not of finite numbers (at byte " + at + ")");
                    assertThatThrownBy(() -> opened.save(folder.resolve("copy")))
                            .isInstanceOf(FileFormatException.class);
                }
            }
        }
    }

    /** As many lists of as many dimensions as there may be, whose centroids alone are more than a buffer holds. */
    @Test
    void whatComesBeforeTheRowsMayBeLongerThanABuffer() throws IOException {
        int lists = 131_072;
        int dimension = 4_096;
        float[][] centroids = new float[lists][];
        Arrays.fill(centroids, new float[dimension]);
        IvfFile table = new IvfFile(
                Metric.SQUARED_L2,
                RowLayout.ofFloats(dimension),
                List.of(),
                0,
                1,
                0,
                42,
                1,
                centroids,
                new long[lists][0]);
        long[] written = {0};
        table.writeFront(
                new WritableByteChannel() {
                    @Override
                    public int write(ByteBuffer bytes) {
                        int count = bytes.remaining();
                        written[0] += count;
                        bytes.position(bytes.limit());
                        return count;
                    }

                    @Override
                    public boolean isOpen() {
                        return true;
                    }

                    @Override
                    public void close() {}
                },
                new int[lists]);
        assertThat(written[0]).isEqualTo(64 + lists * 8 + (long) lists * dimension * 4 + 64);
    }

    @Test
    void foreignFilesAreRefused() throws IOException {
        Files.write(file, new byte[10_000]);
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "zeroes", file))
                .hasMessageContaining("it begins with 0000");
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "none", folder.resolve("none")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> IvfTable.open(ORCHESTRATOR, "folder", folder)).isInstanceOf(IOException.class);
    }

    /** Saves tables of 1,000 and 1,001 rows in turn until it is killed; run in a JVM of its own. */
    static final class SavesForever {
        private SavesForever() {}

        public static void main(String[] arguments) throws IOException {
            try (Orchestrator orchestrator = orchestrator()) {
                IvfTable[] tables = new IvfTable[2];
                for (int i = 0; i < 2; i++) {
                    tables[i] = IvfTable.builder()
                            .nlist(10)
                            .build(orchestrator, gaussian(1_000 + i, DIMENSION, new Random(i)));
                }
                for (int save = 0; true; save++) {
                    tables[save % 2].save(Path.of(arguments[0]));
                    System.out.println("saved");
                }
            }
        }
    }

    @Tag("program")
    @Test
    void aKillAtAnyPointOfASaveLeavesAWholeTable() throws Exception {
        Random random = new Random(5);
        for (int trial = 0; trial < Effort.times(3); trial++) {
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            SavesForever.class.getName(),
                            file.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(lines.readLine()).isEqualTo("saved");
                // Somewhere within the next few saves.
                LockSupport.parkNanos(random.nextInt(30_000_000));
                process.destroyForcibly().waitFor();
            }
            try (IvfTable table = IvfTable.open(ORCHESTRATOR, "survivor", file)) {
                assertThat(table.size()).isBetween(1_000, 1_001);
                assertThat(table.search(new float[DIMENSION], 5, 10).join().size())
                        .isEqualTo(5);
            }
        }
    }
}
