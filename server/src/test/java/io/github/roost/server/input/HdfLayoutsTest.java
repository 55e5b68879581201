package io.github.roost.server.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every layout, filter and element type that h5py writes is read value by value, or refused; layouts.py writes the files. */
class HdfLayoutsTest {
    private static final int ROWS = 19;
    private static final int COLUMNS = 6;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path layouts;

    @SuppressWarnings("NullAway.Init")
    private Path latest;

    /** The value of an element. */
    private interface Value {
        float at(int row, int column);
    }

    @BeforeEach
    void unpack() throws IOException {
        layouts = unpacked("layouts.hdf5");
        latest = unpacked("latest.hdf5");
    }

    private Path unpacked(String name) throws IOException {
        Path file = folder.resolve(name);
        try (InputStream packed = Objects.requireNonNull(HdfLayoutsTest.class.getResourceAsStream(name + ".gz"));
                InputStream in = new GZIPInputStream(packed)) {
            Files.copy(in, file);
        }
        return file;
    }

    private static int grid(int row, int column) {
        return (row * 7_919 + column * 104_729) % 251;
    }

    private static float fraction(int row, int column) {
        return (grid(row, column) - 125) / 8f;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "contiguous",
                "compact",
                "row chunks",
                "column chunks",
                "chunks",
                "gzip",
                "all filters",
                "growing",
                "masked",
                "masked, one chunk",
                "masked, growing",
                "masked, growing in both",
                "soft link",
                "link to a link"
            })
    void everyLayoutIsRead(String name) throws IOException {
        assertValues(layouts, name, HdfLayoutsTest::fraction);
        assertValues(latest, name, HdfLayoutsTest::fraction);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "one chunk",
                "single rows",
                "lzf",
                "shuffle",
                "shuffle and lzf",
                "fletcher32",
                "shuffle and fletcher32",
                "lzf and fletcher32",
                "growing in both",
                "more rows",
                "early",
                "f2",
                ">f2",
                ">f4",
                ">f4, contiguous",
                "f8",
                ">f8",
                ">f8, compact"
            })
    void everyFilterAndFloatIsRead(String name) throws IOException {
        assertValues(latest, name, HdfLayoutsTest::fraction);
    }

    /** The library would take other chunks for the dataset's. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    more columns          | 18
                    more of both          | 18
                    growing columns       | any number
                    growing, more columns | 18
                    """)
    void columnsThatMayBecomeMoreAreReadInTheOlderFormatOnly(String name, String most) throws IOException {
        assertValues(layouts, name, HdfLayoutsTest::fraction);
        assertColumnsRefused(name, most);
    }

    @Test
    void chunksWithoutAnIndexAreRefusedIfColumnsMayBecomeMore() {
        assertColumnsRefused("early, more columns", "18");
    }

    private void assertColumnsRefused(String name, String most) {
        assertThatThrownBy(() -> HdfVectors.open(latest, name))
                .isInstanceOf(IOException.class)
                .hasMessage(latest + " has a dataset \"" + name + "\" of 6 columns, which may become " + most
                        + ": their number must be fixed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"i1", "i2", ">i2", "i4", ">i4", "i8"})
    void signedIntegersAreNumbers(String name) throws IOException {
        assertValues(latest, name, (row, column) -> grid(row, column) - 125);
    }

    @ParameterizedTest
    @ValueSource(strings = {"u1", "u1, contiguous", "u2", ">u2", "u4", "u8"})
    void unsignedIntegersAreNumbers(String name) throws IOException {
        assertValues(latest, name, HdfLayoutsTest::grid);
    }

    @ParameterizedTest
    @ValueSource(strings = {"noise, lzf", "noise, lzf and fletcher32"})
    void aChunkThatCannotBeCompressedIsReadAsItIs(String name) throws IOException {
        assertValues(
                latest, name, (row, column) -> (float) ((row * COLUMNS + column) * 2_654_435_761L % (1L << 32) >> 8));
    }

    @Test
    void whatWasNeverWrittenHasTheFillValue() throws IOException {
        for (Path file : new Path[] {layouts, latest}) {
            assertValues(
                    file, "partly written", (row, column) -> row < 16 && column < 4 ? fraction(row, column) : -3.5f);
            assertValues(file, "never written", (row, column) -> 0);
            assertValues(file, "never written, contiguous", (row, column) -> 2.25f);
        }
    }

    @Test
    void oneRowIsRead() throws IOException {
        for (Path file : new Path[] {layouts, latest}) {
            try (HdfVectors vectors = HdfVectors.open(file, "one row")) {
                assertThat(vectors.size()).isEqualTo(1);
                assertThat(vectors.row(0)).containsExactly(row(0, HdfLayoutsTest::fraction));
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    no rows                  | a dataset "no rows" of 0 rows: there must be at least one
                    nothing                  | a dataset "nothing" of shape [], it must be [rows, dimensions]
                    text                     | a dataset "text" whose elements are not integers or IEEE floats
                    truths                   | a dataset "truths" whose elements are not integers or IEEE floats
                    bfloat16                 | a dataset "bfloat16" whose elements are not integers or IEEE floats
                    list                     | a dataset "list" of shape [6], it must be [rows, dimensions]
                    cube                     | a dataset "cube" of shape [1, 19, 6], it must be [rows, dimensions]
                    external link            | a link "external link" to another file, it must have the dataset
                    link to an external link | a link "link to an external link" to another file, it must have the dataset
                    group                    | no dataset "group", which ann-benchmarks' files have
                    nowhere                  | no dataset "nowhere", which ann-benchmarks' files have
                    """)
    void whatIsNotRowsOfNumbersIsRefused(String name, String why) throws IOException {
        try (InputStream in = Objects.requireNonNull(HdfLayoutsTest.class.getResourceAsStream("contiguous.hdf5"))) {
            Files.copy(in, folder.resolve("contiguous.hdf5"));
        }
        assertThatThrownBy(() -> HdfVectors.open(layouts, name))
                .isInstanceOf(IOException.class)
                .hasMessage(layouts + " has " + why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"scale and offset", "broken link", "loop"})
    void whatTheLibraryCannotReadIsRefusedInOneLine(String name) {
        assertRefused(layouts, name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside.hdf5", "virtual.hdf5", "newer.hdf5"})
    void aFileThatTheLibraryCannotReadIsRefusedInOneLine(String name) throws IOException {
        assertRefused(unpacked(name), HdfVectors.ROWS);
    }

    private static void assertRefused(Path file, String name) {
        assertThatThrownBy(() -> HdfVectors.open(file, name))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + " cannot be read as HDF5: ")
                .message()
                .doesNotContain("io.jhdf", "java.", "\n");
    }

    @Test
    void aChunkWhoseChecksumDoesNotFitIsRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(latest);
        int changed = 0;
        // A change outside this data set leaves its rows as they are.
        for (int at = 4_096; at < bytes.length; at += 211) {
            bytes[at] ^= 4;
            Files.write(latest, bytes);
            bytes[at] ^= 4;
            try (HdfVectors vectors = HdfVectors.open(latest, "fletcher32")) {
                for (int row = 0; row < ROWS; row++) {
                    assertThat(vectors.row(row)).containsExactly(row(row, HdfLayoutsTest::fraction));
                }
            } catch (IOException | UncheckedIOException refused) {
                assertThat(refused).hasMessageContaining(latest.toString());
                changed++;
            }
        }
        assertThat(changed).isPositive();
    }

    @Test
    void aMetricMayBeAnArrayOfOneString() throws IOException {
        assertThat(HdfVectors.metric(layouts)).isEqualTo(Metric.COSINE);
        assertThat(HdfVectors.metric(latest)).isEqualTo(Metric.INNER_PRODUCT);
    }

    private static void assertValues(Path file, String name, Value value) throws IOException {
        try (HdfVectors vectors = HdfVectors.open(file, name)) {
            assertThat(vectors.size()).isEqualTo(ROWS);
            assertThat(vectors.dimension()).isEqualTo(COLUMNS);
            for (int row = 0; row < ROWS; row++) {
                assertThat(vectors.row(row))
                        .describedAs("%s of %s, row %d", name, file.getFileName(), row)
                        .containsExactly(row(row, value));
            }
        }
    }

    private static float[] row(int row, Value value) {
        float[] values = new float[COLUMNS];
        for (int column = 0; column < COLUMNS; column++) {
            values[column] = value.at(row, column);
        }
        return values;
    }
}
