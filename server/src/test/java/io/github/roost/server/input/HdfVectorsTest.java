package io.github.roost.server.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.Metric;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HdfVectorsTest {
    @TempDir
    Path folder;

    private Path file(Object train) {
        Path file = folder.resolve("some.HDF5");
        try (WritableHdfFile hdf = HdfFile.write(file)) {
            hdf.putDataset("train", train);
            hdf.putDataset("test", new float[][] {{7, 8}});
        }
        return file;
    }

    @Test
    void rowsOfManyBlocksAreReadInAnyOrder() throws IOException {
        float[][] rows = new float[700][1_000];
        for (int row = 0; row < rows.length; row++) {
            rows[row][0] = row;
            rows[row][999] = -row;
        }
        try (HdfVectors vectors = HdfVectors.open(file(rows), HdfVectors.ROWS)) {
            assertThat(vectors.size()).isEqualTo(700);
            assertThat(vectors.dimension()).isEqualTo(1_000);
            for (int i = 0; i < rows.length; i++) {
                int row = i * 333 % rows.length;
                assertThat(vectors.row(row)).containsExactly(rows[row]);
            }
        }
    }

    @Test
    void doublesBecomeFloats() throws IOException {
        try (VectorInput input = VectorInput.rows(file(new double[][] {{.1, 2}, {3, 4}}))) {
            assertThat(input.vectors().row(0)).containsExactly(.1f, 2);
            assertThat(input.vectors().row(1)).containsExactly(3, 4);
        }
    }

    @Test
    void queriesAreADatasetOfTheSameFile() throws IOException {
        try (VectorInput input = VectorInput.queries(file(new float[][] {{1, 2}}))) {
            assertThat(input.vectors().row(0)).containsExactly(7, 8);
        }
    }

    @Test
    void aFileThatNamesNoMetricIsOfSquaredDistance() throws IOException {
        assertThat(VectorInput.metric(file(new float[][] {{1, 2}}))).isEqualTo(Metric.SQUARED_L2);
    }

    @Test
    void aMissingDatasetIsNamed() {
        Path file = file(new int[][] {{1, 2}});
        assertThatThrownBy(() -> HdfVectors.open(file, "neighbors"))
                .isInstanceOf(IOException.class)
                .hasMessage(file + " has no dataset \"neighbors\", which ann-benchmarks' files have");
    }

    @Test
    void rowsOfMoreDimensionsThanATableHasAreRefused() {
        Path file = file(new float[2][4_097]);
        assertThatThrownBy(() -> HdfVectors.open(file, HdfVectors.ROWS))
                .isInstanceOf(IOException.class)
                .hasMessage(file + " has a dataset \"train\" of 4,097 dimensions: there must be 1 to 4,096");
    }
}
