package io.github.roost.bench;

import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Reads and writes ivecs files: per query the ordinals of its neighbors in the base, nearest first. Stateless. */
public final class OrdinalRows {
    private OrdinalRows() {}

    /**
     * Reads the true neighbors of queries.
     *
     * @param file an ivecs file
     * @param queries number of rows that the file must have
     * @param k min number of neighbors per row; more are not returned
     * @param base size of the base; all ordinals must be below it
     * @return {@code queries} rows of {@code k} different ordinals
     * @throws FileFormatException if the file is not valid or does not meet these conditions
     */
    public static int[][] readTruth(Path file, int queries, int k, int base) throws IOException {
        int[][] truth = new int[queries][];
        RowFile.read(file, (rows, width) -> {
            if (rows != queries) {
                throw new FileFormatException(file, "must have one row per query, " + queries + ", got " + rows);
            }
            if (width < k) {
                throw new FileFormatException(file, "must have at least k = " + k + " neighbors per row, got " + width);
            }
            return (row, values) -> truth[row] = distinctOrdinals(file, row, values, k, base);
        });
        return truth;
    }

    private static int[] distinctOrdinals(Path file, int row, ByteBuffer values, int k, int base)
            throws FileFormatException {
        int[] ordinals = new int[k];
        values.asIntBuffer().get(ordinals);
        Set<Integer> seen = HashSet.newHashSet(k);
        for (int ordinal : ordinals) {
            if (ordinal < 0 || ordinal >= base) {
                throw new FileFormatException(
                        file,
                        "has ordinal " + ordinal + " in row " + row + ": it must be between 0 and " + (base - 1)
                                + ", the base has " + base + " vectors");
            }
            if (!seen.add(ordinal)) {
                throw new FileFormatException(file, "has ordinal " + ordinal + " twice in row " + row);
            }
        }
        return ordinals;
    }

    /**
     * Writes rows as an ivecs file, replacing an existing one.
     *
     * @throws IllegalArgumentException if the rows differ in width or there are none
     */
    public static void write(Path file, int[][] ordinals) throws IOException {
        int width = RowFile.commonWidth(file, ordinals.length, row -> ordinals[row].length);
        RowFile.write(file, ordinals.length, width, row -> {
            ByteBuffer values = RowFile.values(width);
            values.asIntBuffer().put(ordinals[row]);
            return values;
        });
    }
}
