package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SavedTableTest {
    /** Where the head says where the vectors are. */
    private static final int VECTORS_AT = 112;

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

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

    private static HnswTable build(float[][] rows) {
        return HnswTable.builder().m(6).efConstruction(30).build(ORCHESTRATOR, rows);
    }

    private void saveSmall() throws IOException {
        try (HnswTable table = build(gaussian(200, 5, new Random(51)))) {
            table.save(file);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void anOpenedTableAnswersAsTheSavedOne(Metric metric) throws IOException {
        float[][] rows = gaussian(1_500, 7, new Random(52));
        for (int row = 0; row < 100; row++) {
            rows[1_400 + row] = rows[row];
        }
        long[] ids = new Random(53).longs(rows.length).toArray();
        try (HnswTable saved =
                HnswTable.builder().metric(metric).efConstruction(40).build(ORCHESTRATOR, ids, rows)) {
            saved.save(file);
            try (HnswTable opened = HnswTable.open(ORCHESTRATOR, "opened", file)) {
                assertThat(opened.size()).isEqualTo(rows.length);
                assertThat(opened.metric()).isEqualTo(metric);
                assertThat(opened.dimension()).isEqualTo(7);
                for (float[] query : gaussian(50, 7, new Random(54))) {
                    assertThat(opened.search(query, 10, 30).join())
                            .isEqualTo(saved.search(query, 10, 30).join());
                }
            }
        }
    }

    @Test
    void anOpenTableOutlivesItsFile() throws IOException {
        saveSmall();
        try (HnswTable opened = HnswTable.open(ORCHESTRATOR, "opened", file)) {
            Files.delete(file);
            assertThat(opened.search(new float[5], 10, 10).join().size()).isEqualTo(10);
        }
    }

    @Test
    void aSaveLeavesNothingButItsFile() throws IOException {
        saveSmall();
        saveSmall();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void everyChangedByteIsNoticed() throws IOException {
        saveSmall();
        byte[] good = Files.readAllBytes(file);
        Random random = new Random(55);
        for (int trial = 0; trial < 300; trial++) {
            byte[] bad = good.clone();
            int at = trial < 128 ? trial : random.nextInt(bad.length);
            bad[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, bad);
            assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "bad", file))
                    .describedAs("byte %d", at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("at byte");
        }
    }

    @Test
    void everyTruncationIsNoticed() throws IOException {
        saveSmall();
        byte[] good = Files.readAllBytes(file);
        for (int length : new int[] {0, 1, 100, 4_095, 4_104, 4_200, good.length - 8, good.length - 1}) {
            Files.write(file, Arrays.copyOf(good, length));
            assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "short", file))
                    .describedAs("length %d", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString());
        }
        Files.write(file, Arrays.copyOf(good, good.length + 8));
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "long", file)).isInstanceOf(IOException.class);
    }

    /** Files whose checksum is right and whose numbers are not: C must never see them. */
    @ParameterizedTest
    @CsvSource({
        "8, 1, version 1",
        "12, 9, metric of 9",
        "16, 0, dimension of 0",
        "16, 5000, dimension of 5000",
        "20, 10000, degree of 10000",
        "24, -1, degree above of -1",
        "28, 65, upper layers of 65",
        "32, 0, count of 0",
        "32, 1000000, number of rows",
        "40, 7, number of rows",
        "48, 4, size or place",
        "64, -8, size or place",
        "104, 2, mark of codes of 2",
        "104, 1, size or place",
        "96, -157, power of two of -157",
        "96, 157, power of two of 157",
        "100, -1, largest power of two of -1",
        "100, 81, largest power of two of 81",
        "144, 0, nodes of layer 1",
        "4116, 200, neighbor 200",
        "4116, -2, neighbor -2"
    })
    void forgedNumbersAreRefused(int at, int value, String message) throws IOException {
        saveSmall();
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        if (at >= 32 && at < 96) {
            bytes.putLong(at, value);
        } else {
            bytes.putInt(at, value);
        }
        sign(bytes);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "forged", file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message);
    }

    /** The places of the terms, each followed by a scale, and of the center are in the head. */
    @ParameterizedTest
    @CsvSource({
        "128, 6, NaN, term of a node of NaN",
        "128, 398, -Infinity, term of a node of -Infinity",
        "128, 5, -1, scale of a node of -1",
        "128, 399, Infinity, scale of a node of Infinity",
        "136, 4, NaN, center of codes of NaN"
    })
    void codesThatStandForNoNumbersAreRefused(int placeAt, int ordinal, float value, String message)
            throws IOException {
        try (HnswTable table = HnswTable.builder()
                .elementType(ElementType.INT8)
                .m(6)
                .efConstruction(30)
                .build(ORCHESTRATOR, gaussian(200, 5, new Random(51)))) {
            table.save(file);
        }
        requireRefused(placeAt, ordinal, value, message);
    }

    @ParameterizedTest
    @CsvSource({"FLOAT32, 0, NaN", "FLOAT32, 4, Infinity", "INT8, 0, -Infinity", "INT8, 3, NaN"})
    void vectorsThatAreNoNumbersAreRefused(ElementType element, int component, float value) throws IOException {
        try (HnswTable table = HnswTable.builder()
                .elementType(element)
                .m(6)
                .efConstruction(30)
                .build(ORCHESTRATOR, gaussian(200, 5, new Random(53)))) {
            table.save(file);
        }
        requireRefused(VECTORS_AT, component, value, "value of a node of " + value);
    }

    /** @param placeAt where the head says where the floats are of which one is changed */
    private void requireRefused(int placeAt, int ordinal, float value, String message) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int at = (int) bytes.getLong(placeAt) + ordinal * Float.BYTES;
        bytes.putFloat(at, value);
        sign(bytes);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "forged", file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("at byte " + at);
    }

    private static void sign(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(0, bytes.capacity() - 8));
        bytes.putLong(bytes.capacity() - 8, checksum.getValue());
    }

    @Test
    void foreignFilesAreRefused() throws IOException {
        Files.write(file, new byte[10_000]);
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "zeroes", file))
                .hasMessageContaining("it begins with 0000");
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "none", folder.resolve("none")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "folder", folder)).isInstanceOf(IOException.class);
    }

    /** Saves tables of 1,000 and 1,001 rows in turn until it is killed; run in a JVM of its own. */
    static final class SavesForever {
        private SavesForever() {}

        public static void main(String[] arguments) throws IOException {
            try (Orchestrator orchestrator =
                    Orchestrator.builder().topology(Fixtures.twoDomains()).build()) {
                HnswTable[] tables = new HnswTable[2];
                for (int i = 0; i < 2; i++) {
                    tables[i] = HnswTable.builder()
                            .m(4)
                            .efConstruction(10)
                            .build(orchestrator, gaussian(1_000 + i, 64, new Random(i)));
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
        Random random = new Random(56);
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
            try (HnswTable table = HnswTable.open(ORCHESTRATOR, "survivor", file)) {
                assertThat(table.size()).isBetween(1_000, 1_001);
                assertThat(table.search(new float[64], 5, 50).join().size()).isEqualTo(5);
            }
        }
    }
}
