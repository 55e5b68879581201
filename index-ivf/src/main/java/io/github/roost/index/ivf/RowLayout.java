package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.RowRun;
import org.jspecify.annotations.Nullable;

/**
 * What the lists of a table keep of each row.
 *
 * @param dimension components of a row
 * @param codec makes the bytes that are scanned, or null where floats are
 * @param floats whether floats are kept; always without a codec
 */
record RowLayout(int dimension, @Nullable ScalarCodec codec, boolean floats) {
    RowLayout {
        if (codec == null && !floats) {
            throw new IllegalArgumentException("a row must be kept as floats, bytes or both, got neither");
        }
    }

    static RowLayout ofFloats(int dimension) {
        return new RowLayout(dimension, null, true);
    }

    /** Bytes that {@code rows} rows take in a file, a multiple of 64: floats, then codes, then their terms. */
    long bytes(int rows) {
        return floatBytes(rows) + codeBytes(rows) + (codec == null ? 0 : CodeRun.termBytes(rows));
    }

    long floatBytes(int rows) {
        return floats ? (long) rows * RowRun.strideOf(dimension) * Float.BYTES : 0;
    }

    long codeBytes(int rows) {
        return codec == null ? 0 : CodeRun.codeBytes(rows, CodeRun.strideOf(dimension));
    }
}
