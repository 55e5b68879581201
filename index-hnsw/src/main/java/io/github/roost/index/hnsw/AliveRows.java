package io.github.roost.index.hnsw;

import io.github.roost.core.spi.TableUse;
import io.github.roost.vector.VectorSource;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The rows of several parts that were alive at one moment, as the source of a merged part. Rows are read from the parts in place,
 * because a copy may not fit in the heap. Each read holds the table on its own, so closing the table waits for one row at most.
 * Immutable.
 */
final class AliveRows implements VectorSource {
    private final List<LiveRows> parts;
    private final int dimension;
    private final Supplier<TableUse.Hold> use;
    private final long[] ids;
    /** The part of each row; {@code rowOf} is its row in that part. */
    private final int[] partOf;

    private final int[] rowOf;

    /**
     * Lists the rows that are alive now.
     *
     * @param use holds the table; throws if it is closed
     */
    AliveRows(List<LiveRows> parts, int dimension, Supplier<TableUse.Hold> use) {
        this.parts = parts;
        this.dimension = dimension;
        this.use = use;
        int max = parts.stream().mapToInt(LiveRows::count).sum();
        long[] allIds = new long[max];
        int[] allParts = new int[max];
        int[] allRows = new int[max];
        int count = 0;
        try (var _ = use.get()) {
            for (int number = 0; number < parts.size(); number++) {
                LiveRows part = parts.get(number);
                for (int row = 0; row < part.count(); row++) {
                    if (part.isAlive(row)) {
                        part.requireSound(row);
                        allIds[count] = part.id(row);
                        allParts[count] = number;
                        allRows[count++] = row;
                    }
                }
            }
        }
        this.ids = Arrays.copyOf(allIds, count);
        this.partOf = Arrays.copyOf(allParts, count);
        this.rowOf = Arrays.copyOf(allRows, count);
    }

    long[] ids() {
        return ids;
    }

    @Override
    public int size() {
        return ids.length;
    }

    @Override
    public int dimension() {
        return dimension;
    }

    @Override
    public void read(int row, float[] into) {
        try (var _ = use.get()) {
            System.arraycopy(parts.get(partOf[row]).vector(rowOf[row]), 0, into, 0, dimension);
        }
    }
}
