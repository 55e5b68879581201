package io.github.roost.vector.math;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Counts a table's rows by their size, the binary exponent of their largest absolute value; rows of zeros have none. Thread-safe. */
public final class RowSizes {
    private final int least;
    private final AtomicIntegerArray rows;

    /** @param least smaller rows count as of this size */
    public RowSizes(int least) {
        this.least = least;
        this.rows = new AtomicIntegerArray(Float.MAX_EXPONENT - least + 1);
    }

    /** Counts a row. */
    public void add(float[] row) {
        float max = largestOf(row);
        if (max > 0) {
            rows.getAndIncrement(Math.max(exponentOf(max), least) - least);
        }
    }

    /** Whether no row has a size. */
    public boolean isEmpty() {
        return within(least, Float.MAX_EXPONENT) == 0;
    }

    /** The number of rows of sizes from one to another, inclusive. */
    public long within(int from, int to) {
        long count = 0;
        for (int size = Math.max(from, least); size <= to; size++) {
            count += rows.get(size - least);
        }
        return count;
    }

    /** The size of the row in the middle, if the rows were sorted; there must be one. */
    public int median() {
        long before = within(least, Float.MAX_EXPONENT) / 2;
        int size = 0;
        while (before >= rows.get(size)) {
            before -= rows.get(size++);
        }
        return size + least;
    }

    /** The size of the largest row; there must be one. */
    public int largest() {
        int size = rows.length() - 1;
        while (rows.get(size) == 0) {
            size--;
        }
        return size + least;
    }

    /** The largest absolute value. */
    public static float largestOf(float[] row) {
        float max = 0;
        for (float value : row) {
            max = Math.max(max, Math.abs(value));
        }
        return max;
    }

    /** The binary exponent of a value, less than that of any float for zero. */
    public static int exponentOf(float value) {
        // In double, as denormal floats have lower exponents.
        return Math.getExponent((double) value);
    }
}
