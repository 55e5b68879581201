package io.github.roost.core.vector;

import io.github.roost.core.Vectors;
import java.io.UncheckedIOException;

/**
 * Vectors that a table is built of, read row by row: from arrays, a file ({@link VectorFile}), or wherever they are. A build
 * reads rows in any order, some of them several times, by several workers at once.
 *
 * <p>Thread-safe: each implementation must be, and must give the same components each time.
 */
public interface VectorSource {
    /** {@return the number of rows, at least 0} */
    int size();

    /** {@return the number of components of each row} */
    int dimension();

    /**
     * Copies a row.
     *
     * @param row from 0 to {@link #size()} exclusive
     * @param into of {@link #dimension()} components
     * @throws UncheckedIOException if it cannot be read
     */
    void read(int row, float[] into);

    /**
     * A copy of a row.
     *
     * @param row from 0 to {@link #size()} exclusive
     * @return its components
     * @throws UncheckedIOException if it cannot be read
     */
    default float[] row(int row) {
        float[] components = new float[dimension()];
        read(row, components);
        return components;
    }

    /**
     * Rows in arrays of floats.
     *
     * @param rows at least one, all of one length; must not change while the source is used
     * @return the rows
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource of(float[][] rows) {
        int dimension = ArrayVectors.dimension(rows.length, row -> rows[row].length);
        return new ArrayVectors(
                rows.length, dimension, (row, into) -> System.arraycopy(rows[row], 0, into, 0, dimension));
    }

    /**
     * Rows in arrays of signed bytes, whose values are the components.
     *
     * @param rows at least one, all of one length; must not change while the source is used
     * @return the rows
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource of(byte[][] rows) {
        int dimension = ArrayVectors.dimension(rows.length, row -> rows[row].length);
        return new ArrayVectors(rows.length, dimension, (row, into) -> {
            for (int d = 0; d < dimension; d++) {
                into[d] = rows[row][d];
            }
        });
    }

    /**
     * Rows in arrays of IEEE 754 binary16 numbers.
     *
     * @param rows at least one, all of one length; must not change while the source is used
     * @return the rows
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource ofFloat16(short[][] rows) {
        int dimension = ArrayVectors.dimension(rows.length, row -> rows[row].length);
        return new ArrayVectors(rows.length, dimension, (row, into) -> {
            for (int d = 0; d < dimension; d++) {
                into[d] = Float.float16ToFloat(rows[row][d]);
            }
        });
    }

    /**
     * Some of the rows, which follow each other.
     *
     * @param from the first
     * @param to after the last
     * @return the rows, counted from 0
     */
    default VectorSource slice(int from, int to) {
        Vectors.requireRange("to", to, 0, size());
        Vectors.requireRange("from", from, 0, to);
        return new ArrayVectors(to - from, dimension(), (row, into) -> read(from + row, into));
    }
}
