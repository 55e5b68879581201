package io.github.roost.bench;

import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Reads and writes fvecs files: rows of 32-bit floats, each preceded by its width. Stateless. */
public final class FloatVectors {
    private static final int ROW_OVERHEAD_BYTES = 24;

    private FloatVectors() {}

    /**
     * Reads all rows of an fvecs file.
     *
     * @return at least one row, all of the same width of at least 1, all values finite
     * @throws FileFormatException if the file is not a valid fvecs file, or needs more memory than the JVM's max heap
     */
    public static float[][] read(Path file) throws IOException {
        float[][][] result = new float[1][][];
        RowFile.read(file, (rows, width) -> {
            checkMemory(file, rows, width);
            float[][] vectors = new float[rows][];
            result[0] = vectors;
            return (row, values) -> vectors[row] = finite(file, row, values, width);
        });
        return result[0];
    }

    private static void checkMemory(Path file, int rows, int width) throws FileFormatException {
        long needed = rows * ((long) width * Float.BYTES + ROW_OVERHEAD_BYTES);
        if (needed > Runtime.getRuntime().maxMemory()) {
            throw new FileFormatException(
                    file,
                    "needs " + (needed >> 20) + " MiB of memory, but the JVM may use "
                            + (Runtime.getRuntime().maxMemory() >> 20) + " MiB");
        }
    }

    private static float[] finite(Path file, int row, ByteBuffer values, int width) throws FileFormatException {
        float[] vector = new float[width];
        values.asFloatBuffer().get(vector);
        for (int i = 0; i < width; i++) {
            if (!Float.isFinite(vector[i])) {
                throw new FileFormatException(
                        file, "has " + vector[i] + " in row " + row + ", column " + i + ": values must be finite");
            }
        }
        return vector;
    }

    /**
     * Writes rows as an fvecs file, replacing an existing one.
     *
     * @throws IllegalArgumentException if the rows differ in width or there are none
     */
    public static void write(Path file, float[][] vectors) throws IOException {
        int width = RowFile.commonWidth(file, vectors.length, row -> vectors[row].length);
        RowFile.write(file, vectors.length, width, row -> {
            ByteBuffer values = RowFile.values(width);
            values.asFloatBuffer().put(vectors[row]);
            return values;
        });
    }
}
