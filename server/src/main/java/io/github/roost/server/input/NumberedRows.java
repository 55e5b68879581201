package io.github.roost.server.input;

import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The rows of a file that a table is built from, with their numbers in the file as ids. Rows of zeros have no cosine: under that metric
 * the caller leaves them out, or refuses the file.
 *
 * @param ids the number of each row, from 0
 * @param vectors the rows
 */
public record NumberedRows(long[] ids, VectorSource vectors) {
    /** All rows of a file. */
    public static NumberedRows all(VectorSource vectors) {
        return new NumberedRows(
                IntStream.range(0, vectors.size()).asLongStream().toArray(), vectors);
    }

    /**
     * The rows of a file for a table of a metric; under cosine reads all of them.
     *
     * @param file the file, for messages
     * @param onZeros told, if the metric is cosine and there are rows of zeros, how many, and which is the first; they are left out
     *     unless it throws
     * @throws FileFormatException if the metric is cosine and there are only rows of zeros
     * @throws IOException if the rows cannot be read
     */
    public static NumberedRows of(Path file, VectorSource vectors, Metric metric, Consumer<String> onZeros)
            throws IOException {
        if (metric != Metric.COSINE) {
            return all(vectors);
        }
        int[] kept = new int[vectors.size()];
        int count = 0;
        int first = -1;
        float[] row = new float[vectors.dimension()];
        try {
            for (int number = 0; number < kept.length; number++) {
                vectors.read(number, row);
                if (!isZero(row)) {
                    kept[count++] = number;
                } else if (first < 0) {
                    first = number;
                }
            }
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
        if (first < 0) {
            return all(vectors);
        }
        if (count == 0) {
            throw new FileFormatException(file, "has only rows of zeros, which have no cosine");
        }
        onZeros.accept("%s has %,d rows of zeros, which have no cosine, the first is row %d"
                .formatted(file, kept.length - count, first));
        int[] numbers = Arrays.copyOf(kept, count);
        return new NumberedRows(IntStream.of(numbers).asLongStream().toArray(), new VectorSource() {
            @Override
            public int size() {
                return numbers.length;
            }

            @Override
            public int dimension() {
                return vectors.dimension();
            }

            @Override
            public void read(int row, float[] into) {
                vectors.read(numbers[row], into);
            }
        });
    }

    /** Whether all components are zero. */
    public static boolean isZero(float[] row) {
        for (float component : row) {
            if (component != 0) {
                return false;
            }
        }
        return true;
    }

    /** Number of rows. */
    public int size() {
        return ids.length;
    }
}
