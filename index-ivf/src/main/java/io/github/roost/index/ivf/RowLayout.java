package io.github.roost.index.ivf;

import io.github.roost.core.vector.ElementType;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.RowRun;
import org.jspecify.annotations.Nullable;

/**
 * What the lists of a table keep of each row.
 *
 * @param element what distances are to: that of rows, or what is left of it
 * @param dimension components of a row
 * @param codec makes the bytes that are scanned, or null where floats or float16 are
 * @param floatBytes bytes of a component that is kept as it is: 4 for a float, 2 for a half, 0 where only codes are kept
 */
record RowLayout(
        ElementType element, int dimension, @Nullable ScalarCodec codec, int floatBytes) {
    RowLayout {
        if (codec == null && floatBytes == 0) {
            throw new IllegalArgumentException("a row must be kept as floats, bytes or both, got neither");
        }
    }

    static RowLayout of(ElementType element, boolean keepFloats, int dimension, @Nullable ScalarCodec codec) {
        return new RowLayout(
                element,
                dimension,
                codec,
                switch (element) {
                    case FLOAT32 -> Float.BYTES;
                    case FLOAT16 -> Short.BYTES;
                    case INT8 -> keepFloats ? Float.BYTES : 0;
                });
    }

    static RowLayout ofFloats(int dimension) {
        return new RowLayout(ElementType.FLOAT32, dimension, null, Float.BYTES);
    }

    /** Whether rows are scanned as codes. */
    boolean codes() {
        return codec != null;
    }

    /** Whether rows are kept as floats or float16. */
    boolean floats() {
        return floatBytes > 0;
    }

    /** Bytes that {@code rows} rows take in a file, a multiple of 64: floats, then codes, then their terms. */
    long bytes(int rows) {
        return floatBytesOf(rows) + codeBytesOf(rows) + (codec == null ? 0 : CodeRun.termBytes(rows));
    }

    long floatBytesOf(int rows) {
        // Whole lines, which an odd number of rows of float16 does not fill.
        return ((long) rows * RowRun.strideOf(dimension) * floatBytes + 63) / 64 * 64;
    }

    long codeBytesOf(int rows) {
        return codec == null ? 0 : CodeRun.codeBytes(rows, CodeRun.strideOf(dimension));
    }
}
