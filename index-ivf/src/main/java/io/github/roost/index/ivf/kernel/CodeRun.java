package io.github.roost.index.ivf.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Rows of unsigned byte codes off-heap, in tiles of {@value #TILE} rows. A tile has the first four components of each row, then
 * the next four, and so on: so a register holds the same components of all rows of a tile, and their sums need no folding.
 *
 * @param codes whole tiles of {@code count} rows of {@code stride} bytes
 * @param terms a float per place of the tiles, the part of a row's score that no query changes; then a float per place, the scale of
 *     the row's codes
 * @param count number of rows
 * @param stride bytes per row, a multiple of 4
 */
public record CodeRun(MemorySegment codes, MemorySegment terms, int count, int stride) {
    /** Rows per tile. */
    public static final int TILE = 16;

    private static final ValueLayout.OfInt FOUR = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    public CodeRun {
        if (stride < 4 || stride % 4 != 0 || count < 0) {
            throw new IllegalArgumentException(
                    "stride must be a positive multiple of 4 and count at least 0, got " + stride + " and " + count);
        }
        if (codes.byteSize() < codeBytes(count, stride) || terms.byteSize() < termBytes(count)) {
            throw new IllegalArgumentException(count + " rows of " + stride + " bytes do not fit in " + codes.byteSize()
                    + " bytes of codes and " + terms.byteSize() + " of terms");
        }
    }

    /** Room for {@code count} rows. */
    public static CodeRun allocate(Arena arena, int count, int stride) {
        return new CodeRun(
                arena.allocate(codeBytes(count, stride), 64), arena.allocate(termBytes(count), 64), count, stride);
    }

    /** Bytes per row for vectors of {@code dimension}. */
    public static int strideOf(int dimension) {
        return (dimension + 3) / 4 * 4;
    }

    /** Bytes of {@link #codes} for {@code count} rows; a multiple of 64. */
    public static long codeBytes(int count, int stride) {
        return placesOf(count) * stride;
    }

    /** Bytes of {@link #terms} for {@code count} rows; a multiple of 64. */
    public static long termBytes(int count) {
        return 2 * placesOf(count) * Float.BYTES;
    }

    private static long placesOf(int count) {
        return ((long) count + TILE - 1) / TILE * TILE;
    }

    /** Writes a row; missing components become 0. */
    public void write(int row, byte[] components, float term, float scale) {
        long at = at(row);
        for (int i = 0; i < stride; i += 4) {
            int four = 0;
            for (int j = 0; j < 4 && i + j < components.length; j++) {
                four |= Byte.toUnsignedInt(components[i + j]) << (8 * j);
            }
            codes.set(FOUR, at + (long) i * TILE, four);
        }
        terms.setAtIndex(ValueLayout.JAVA_FLOAT, row, term);
        terms.setAtIndex(ValueLayout.JAVA_FLOAT, placesOf(count) + row, scale);
    }

    /** The {@link #stride} codes of a row. */
    public byte[] read(int row) {
        byte[] components = new byte[stride];
        long at = at(row);
        for (int i = 0; i < stride; i += 4) {
            MemorySegment.copy(codes, ValueLayout.JAVA_BYTE, at + (long) i * TILE, components, i, 4);
        }
        return components;
    }

    /** A row's term. */
    public float term(int row) {
        return terms.getAtIndex(ValueLayout.JAVA_FLOAT, row);
    }

    /** The scale of a row's codes. */
    public float scale(int row) {
        return terms.getAtIndex(ValueLayout.JAVA_FLOAT, placesOf(count) + row);
    }

    private long at(int row) {
        return (long) (row / TILE) * TILE * stride + row % TILE * 4L;
    }
}
