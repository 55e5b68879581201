package io.github.roost.index.ivf;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Counts a table's rows by the binary exponent of their largest absolute value; rows of zeros have no size. Thread-safe. */
final class RowSizes {
    private static final int LEAST = Float.MIN_EXPONENT - Float.PRECISION;

    private final AtomicIntegerArray rows = new AtomicIntegerArray(Float.MAX_EXPONENT - LEAST + 1);

    /** The sizes of rows. */
    static RowSizes of(float[][] rows) {
        RowSizes sizes = new RowSizes();
        for (float[] row : rows) {
            sizes.add(row);
        }
        return sizes;
    }

    void add(float[] row) {
        int exponent = exponentOf(row);
        if (exponent >= LEAST) {
            rows.getAndIncrement(exponent - LEAST);
        }
    }

    /** Whether no row has a size. */
    boolean isEmpty() {
        return count() == 0;
    }

    /** The size of the row in the middle, if the rows were sorted; there must be one. */
    int median() {
        long before = count() / 2;
        int size = 0;
        while (before >= rows.get(size)) {
            before -= rows.get(size++);
        }
        return size + LEAST;
    }

    /** The size of the largest row; there must be one. */
    int largest() {
        int size = rows.length() - 1;
        while (rows.get(size) == 0) {
            size--;
        }
        return size + LEAST;
    }

    private long count() {
        long count = 0;
        for (int size = 0; size < rows.length(); size++) {
            count += rows.get(size);
        }
        return count;
    }

    /** The binary exponent of the largest absolute value; less than that of any float for zeros. */
    static int exponentOf(float[] row) {
        float max = 0;
        for (float value : row) {
            max = Math.max(max, Math.abs(value));
        }
        // In double, as denormal floats have lower exponents.
        return Math.getExponent((double) max);
    }
}
