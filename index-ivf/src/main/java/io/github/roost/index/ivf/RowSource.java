package io.github.roost.index.ivf;

/** Rows by ordinal, as the table stores them: normalised where its metric asks for it. Thread-safe. */
@FunctionalInterface
interface RowSource {
    /** Row {@code ordinal}; not to be changed. */
    float[] row(int ordinal);
}
