package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
