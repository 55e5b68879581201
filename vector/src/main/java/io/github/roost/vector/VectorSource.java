package io.github.roost.vector;

import java.io.UncheckedIOException;

/**
 * The vectors that a table is built from, read row by row: arrays, a file ({@link VectorFile}), or the caller's own source. A build reads
 * rows in any order, some rows several times, by several workers at once.
 *
 * <p>Implementations must be thread-safe, and must return the same components each time.
 */
public interface VectorSource {
    /** {@return the number of rows, at least 0} */
    int size();

    /** {@return the number of components of each row} */
    int dimension();

    /**
     * Copies a row.
     *
     * @param row the row, from 0 to {@link #size()} exclusive
     * @param into receives the components; its length is {@link #dimension()}
     * @throws UncheckedIOException if the row cannot be read
     */
    void read(int row, float[] into);

    /**
     * Returns a copy of a row.
     *
     * @param row the row, from 0 to {@link #size()} exclusive
     * @return its components
     * @throws UncheckedIOException if the row cannot be read
     */
    default float[] row(int row) {
        float[] components = new float[dimension()];
        read(row, components);
        return components;
    }

    /**
     * Returns a source of rows in float arrays.
     *
     * @param rows at least one row, all of the same length; must not change while the source is used
     * @return the source
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource of(float[][] rows) {
        int dimension = ArrayVectors.dimension(rows, row -> row.length);
        return new ArrayVectors(
                rows.length, dimension, (row, into) -> System.arraycopy(rows[row], 0, into, 0, dimension));
    }

    /**
     * Returns a source of rows in arrays of signed bytes, whose values are the components.
     *
     * @param rows at least one row, all of the same length; must not change while the source is used
     * @return the source
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource of(byte[][] rows) {
        int dimension = ArrayVectors.dimension(rows, row -> row.length);
        return new ArrayVectors(rows.length, dimension, (row, into) -> {
            for (int d = 0; d < dimension; d++) {
                into[d] = rows[row][d];
            }
        });
    }

    /**
     * Returns a source of rows in arrays of IEEE 754 binary16 numbers.
     *
     * @param rows at least one row, all of the same length; must not change while the source is used
     * @return the source
     * @throws IllegalArgumentException if there are none, or lengths differ
     */
    static VectorSource ofFloat16(short[][] rows) {
        int dimension = ArrayVectors.dimension(rows, row -> row.length);
        return new ArrayVectors(rows.length, dimension, (row, into) -> {
            for (int d = 0; d < dimension; d++) {
                into[d] = Float.float16ToFloat(rows[row][d]);
            }
        });
    }

    /**
     * Returns a source of a range of the rows.
     *
     * @param from the first row
     * @param to the row after the last, at most {@link #size()}
     * @return a view of the range, with rows numbered from 0
     */
    default VectorSource slice(int from, int to) {
        Vectors.requireRange("to", to, 0, size());
        Vectors.requireRange("from", from, 0, to);
        return new ArrayVectors(to - from, dimension(), (row, into) -> read(from + row, into));
    }
}
