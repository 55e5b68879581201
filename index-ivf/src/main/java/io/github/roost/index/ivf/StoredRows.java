package io.github.roost.index.ivf;

/** Rows by ordinal, in stored form: normalised if the metric requires it. Thread-safe. */
@FunctionalInterface
interface StoredRows {
    /** Row {@code ordinal}; not to be changed. */
    float[] row(int ordinal);
}
