package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.vector.ElementType;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of each row in a list of a table.
 *
 * @param element the table's element type
 * @param dimension components per row
 * @param codec makes the codes that are scanned, or null if floats or float16 are scanned; the lists of a table have different ones
 * @param floatBytes bytes per uncoded component: 4 for float32, 2 for float16, 0 if only codes are stored
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

    /** This layout, with another codec. */
    RowLayout with(ScalarCodec other) {
        return new RowLayout(element, dimension, other, floatBytes);
    }

    /** The layout of rows that are in no list yet: with floats, as their codes may lose more than those of a list. */
    RowLayout ofBuffer() {
        return new RowLayout(element, dimension, codec, floats() ? floatBytes : Float.BYTES);
    }

    ScalarCodec requireCodec() {
        if (codec == null) {
            throw new IllegalStateException("the list keeps no codes");
        }
        return codec;
    }

    /** Whether rows are scanned as codes. */
    boolean codes() {
        return codec != null;
    }

    /** Whether rows are stored as floats or float16. */
    boolean floats() {
        return floatBytes > 0;
    }

    /** Bytes of {@code rows} rows, in memory and in a file, a multiple of 64: floats, then codes, then their terms and scales. */
    long bytes(int rows) {
        return floatBytesOf(rows) + codeBytesOf(rows) + (codec == null ? 0 : CodeRun.termBytes(rows));
    }

    long floatBytesOf(int rows) {
        // Rounded up to cache lines, which an odd number of float16 rows may not fill.
        return ((long) rows * RowRun.strideOf(dimension) * floatBytes + 63) / 64 * 64;
    }

    long codeBytesOf(int rows) {
        return codec == null ? 0 : CodeRun.codeBytes(rows, CodeRun.strideOf(dimension));
    }
}
