package io.github.roost.index.ivf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The rows of an IVF table outside the Java heap, list by list: rows of one list lie together. Immutable once filled. */
final class InvertedLists implements AutoCloseable {
    private static final long CACHE_LINE = 64;

    private final Arena arena = Arena.ofShared();
    private final int dimension;
    /** First row of each list, and one past the last row of all. */
    private final long[] firstRow;

    private final MemorySegment rows;
    private final MemorySegment ids;

    /**
     * @param listOf the list of each row
     * @param lists number of lists
     */
    InvertedLists(float[][] vectors, long[] externalIds, int[] listOf, int lists) {
        this.dimension = vectors[0].length;
        this.firstRow = new long[lists + 1];
        for (int list : listOf) {
            firstRow[list + 1]++;
        }
        Arrays.parallelPrefix(firstRow, Long::sum);
        this.rows = arena.allocate((long) vectors.length * dimension * Float.BYTES, CACHE_LINE);
        this.ids = arena.allocate((long) vectors.length * Long.BYTES, CACHE_LINE);
        long[] next = firstRow.clone();
        for (int row = 0; row < vectors.length; row++) {
            long place = next[listOf[row]]++;
            MemorySegment.copy(
                    vectors[row], 0, rows, ValueLayout.JAVA_FLOAT, place * dimension * Float.BYTES, dimension);
            ids.setAtIndex(ValueLayout.JAVA_LONG, place, externalIds[row]);
        }
    }

    long size(int list) {
        return firstRow[list + 1] - firstRow[list];
    }

    MemorySegment rows(int list) {
        long rowBytes = (long) dimension * Float.BYTES;
        return rows.asSlice(firstRow[list] * rowBytes, size(list) * rowBytes);
    }

    MemorySegment ids(int list) {
        return ids.asSlice(firstRow[list] * Long.BYTES, size(list) * Long.BYTES);
    }

    @Override
    public void close() {
        arena.close();
    }
}
