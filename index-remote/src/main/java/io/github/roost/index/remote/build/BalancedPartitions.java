package io.github.roost.index.remote.build;

import io.github.roost.vector.kernel.FloatOrder;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Assigns rows to partitions of nearly equal size. Rows are assigned in order of distance to their nearest centroid, each to the nearest
 * partition with room, so rows near a boundary are the ones that are moved elsewhere. A pure function of its arguments.
 */
final class BalancedPartitions {
    private final int rows;
    private final int partitions;
    private final int near;
    private final int[] nearest;
    private final float[] distances;
    private final IntFunction<int[]> all;
    private final int[] counts;

    /**
     * @param near number of nearest partitions known per row
     * @param nearest {@code near} partitions per row, nearest first
     * @param distances distances to their centroids
     * @param all all partitions, nearest to a row first; called if none of the known ones has room
     */
    BalancedPartitions(int rows, int partitions, int near, int[] nearest, float[] distances, IntFunction<int[]> all) {
        this.rows = rows;
        this.partitions = partitions;
        this.near = near;
        this.nearest = nearest;
        this.distances = distances;
        this.all = all;
        this.counts = new int[partitions];
    }

    /**
     * Returns the rows of each partition.
     *
     * @param slack how far the size of a partition may exceed the mean, as a share of the mean
     * @param boundary the share of rows assigned to a second partition too: those that are nearly as near to another centroid
     */
    int[][] assign(double slack, double boundary) {
        int max = (int) Math.ceil(rows * (1 + slack) / partitions);
        int[] first = new int[rows];
        for (int row : byNumber(row -> distances[row * near])) {
            first[row] = place(row, max);
            counts[first[row]]++;
        }
        int[] second = secondPlaces(first, boundary, max);
        int[][] members = new int[partitions][];
        for (int partition = 0; partition < partitions; partition++) {
            members[partition] = new int[counts[partition]];
        }
        int[] filled = new int[partitions];
        for (int row = 0; row < rows; row++) {
            members[first[row]][filled[first[row]]++] = row;
            if (second[row] >= 0) {
                members[second[row]][filled[second[row]]++] = row;
            }
        }
        return members;
    }

    private int place(int row, int max) {
        for (int i = 0; i < near; i++) {
            int partition = nearest[row * near + i];
            if (counts[partition] < max) {
                return partition;
            }
        }
        for (int partition : all.apply(row)) {
            if (counts[partition] < max) {
                return partition;
            }
        }
        throw new IllegalStateException("there is no room for row " + row + " in any of " + partitions + " partitions");
    }

    private int[] secondPlaces(int[] first, double boundary, int max) {
        int[] second = new int[rows];
        Arrays.fill(second, -1);
        int copies = near < 2 ? 0 : (int) (rows * boundary);
        int room = max + (int) Math.ceil(2.0 * copies / partitions);
        int copied = 0;
        for (int row : byNumber(
                row -> near < 2 ? 0 : distances[row * near + 1] / Math.max(distances[row * near], Float.MIN_NORMAL))) {
            if (copied == copies) {
                break;
            }
            int other = nearest[row * near] == first[row] ? nearest[row * near + 1] : nearest[row * near];
            if (counts[other] < room) {
                second[row] = other;
                counts[other]++;
                copied++;
            }
        }
        return second;
    }

    private interface RowNumber {
        float of(int row);
    }

    /** The rows, sorted by a number in ascending order. */
    private int[] byNumber(RowNumber number) {
        long[] keys = new long[rows];
        for (int row = 0; row < rows; row++) {
            keys[row] = (long) FloatOrder.key(number.of(row)) << Integer.SIZE | row;
        }
        Arrays.sort(keys);
        int[] order = new int[rows];
        for (int i = 0; i < rows; i++) {
            order[i] = (int) keys[i];
        }
        return order;
    }
}
