package io.github.roost.index.hnsw;

import io.github.roost.core.task.TableUse;
import io.github.roost.core.vector.VectorSource;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The rows of some parts of a live table that were alive at one moment, to build another part of. They are read where they are,
 * since together they may be more than the heap holds: each under a hold of the table of its own, so that who closes the table waits for
 * no more than a row. Immutable.
 */
final class AliveRows implements VectorSource {
    private final List<LiveRows> parts;
    private final int dimension;
    private final Supplier<TableUse.Hold> use;
    private final long[] ids;
    /** Of each row the part, and where it is there. */
    private final int[] partOf;

    private final int[] rowOf;

    /**
     * Notes what is alive now.
     *
     * @param use holds the table, or throws where that is closed
     */
    AliveRows(List<LiveRows> parts, int dimension, Supplier<TableUse.Hold> use) {
        this.parts = parts;
        this.dimension = dimension;
        this.use = use;
        int most = parts.stream().mapToInt(LiveRows::count).sum();
        long[] allIds = new long[most];
        int[] allParts = new int[most];
        int[] allRows = new int[most];
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
