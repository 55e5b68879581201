package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class OrdinalRowsTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("t.ivecs");
    }

    @Test
    void theFirstKOfEachRowAreReadBack() throws IOException {
        OrdinalRows.write(file, new int[][] {{4, 2, 0}, {1, 3, 2}});

        assertThat(OrdinalRows.readTruth(file, 2, 2, 5)).isDeepEqualTo(new int[][] {{4, 2}, {1, 3}});
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "3 | 2 | 5 | must have one row per query, 3, got 2",
                "2 | 4 | 5 | must have at least k = 4 neighbors per row, got 3",
                "2 | 3 | 4 | has ordinal 4 in row 0: it must be between 0 and 3",
            })
    void truthThatDoesNotFitIsRefused(int queries, int k, int base, String fault) throws IOException {
        OrdinalRows.write(file, new int[][] {{4, 2, 0}, {1, 3, 2}});

        assertThatThrownBy(() -> OrdinalRows.readTruth(file, queries, k, base))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("t.ivecs")
                .hasMessageContaining(fault);
    }

    @Test
    void anOrdinalBelowZeroIsRefused() throws IOException {
        OrdinalRows.write(file, new int[][] {{-1}});

        assertThatThrownBy(() -> OrdinalRows.readTruth(file, 1, 1, 5)).hasMessageContaining("ordinal -1 in row 0");
    }

    @Test
    void anOrdinalNamedTwiceIsRefused() throws IOException {
        OrdinalRows.write(file, new int[][] {{3, 3}});

        assertThatThrownBy(() -> OrdinalRows.readTruth(file, 1, 2, 5)).hasMessageContaining("ordinal 3 twice in row 0");
    }

    @Test
    void rowsAreReadBackAcrossTheReadersBuffers() throws IOException {
        int[][] rows = new int[3_000][130];
        for (int row = 0; row < rows.length; row++) {
            Arrays.setAll(rows[row], i -> i);
            rows[row][129] = 130 + row;
        }

        OrdinalRows.write(file, rows);

        assertThat(OrdinalRows.readTruth(file, 3_000, 130, 3_200)).isDeepEqualTo(rows);
        assertThat(Files.size(file)).isEqualTo(3_000 * (4 + 4 * 130));
    }

    static Stream<Arguments> brokenFiles() {
        return Stream.of(
                Arguments.of("no bytes", bytes(), "is empty"),
                Arguments.of("half a width", new byte[] {1, 0}, "truncated"),
                Arguments.of("width zero", bytes(0), "width 0"),
                Arguments.of("negative width", bytes(-4, 1, 1, 1), "width -4"),
                Arguments.of("huge width", bytes(Integer.MAX_VALUE, 0, 0), "width 2147483647"),
                Arguments.of("a row cut short", bytes(2, 0, 1, 2, 0), "truncated or of mixed widths"),
                Arguments.of("a row cut inside a value", new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 1, 0}, "truncated"),
                Arguments.of("another width that fits the size", bytes(2, 0, 1, 5, 0, 1), "row 1 of width 5"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("brokenFiles")
    void aBrokenFileIsRefusedByItsNameAndFault(String what, byte[] content, String fault) throws IOException {
        Files.write(file, content);

        assertThatThrownBy(() -> OrdinalRows.readTruth(file, 2, 1, 5))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("t.ivecs")
                .hasMessageContaining(fault);
    }

    @Test
    void aMissingFileAndADirectoryAreRefused() {
        assertThatThrownBy(() -> OrdinalRows.readTruth(folder.resolve("none"), 1, 1, 1))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("does not exist");
        assertThatThrownBy(() -> OrdinalRows.readTruth(folder, 1, 1, 1))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("is a directory");
    }

    @Test
    void rowsOfDifferentWidthsAreNotWritten() {
        assertThatThrownBy(() -> OrdinalRows.write(file, new int[][] {{1}, {1, 2}}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 2 in row 1");
        assertThat(file).doesNotExist();
    }

    private static byte[] bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putInt(value);
        }
        return buffer.array();
    }
}
