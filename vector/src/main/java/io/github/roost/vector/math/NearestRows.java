package io.github.roost.vector.math;

import java.util.Arrays;

/** Rows in the order of search results: by distance, ties by ascending id. Stateless. */
public final class NearestRows {
    private NearestRows() {}

    /**
     * Sorts the ids of rows at equal distances.
     *
     * @param ids the ids; those of equal distances are put in ascending order
     * @param distances the distances of these rows, already in ascending order
     * @param size the number of rows
     */
    public static void sortTies(long[] ids, float[] distances, int size) {
        for (int from = 0; from < size; ) {
            int to = from + 1;
            while (to < size && distances[to] == distances[from]) {
                to++;
            }
            if (to - from > 1) {
                Arrays.sort(ids, from, to);
            }
            from = to;
        }
    }

    /**
     * Keeps the first row of each id, and moves the kept rows to the front in their order. A row that is being moved or replaced may be
     * found at two places.
     *
     * @param ids the ids, in the order of preference
     * @param distances the distances of these rows
     * @param size the number of rows
     * @param limit the maximum number of rows to keep
     * @return the number of rows kept
     */
    public static int distinct(long[] ids, float[] distances, int size, int limit) {
        // Open addressing, at most half full: a slot has the position of a kept id plus one, or 0.
        int[] slots = new int[4 * Integer.highestOneBit(Math.max(1, Math.min(size, limit)))];
        int kept = 0;
        for (int i = 0; i < size && kept < limit; i++) {
            int slot = mixed(ids[i]) & (slots.length - 1);
            while (slots[slot] != 0 && ids[slots[slot] - 1] != ids[i]) {
                slot = (slot + 1) & (slots.length - 1);
            }
            if (slots[slot] == 0) {
                ids[kept] = ids[i];
                distances[kept] = distances[i];
                slots[slot] = ++kept;
            }
        }
        return kept;
    }

    /** The first step of MurmurHash3's finalizer, high bits down (Appleby, 2011). */
    private static int mixed(long id) {
        return (int) (((id ^ (id >>> 33)) * 0xff51afd7ed558ccdL) >>> 33);
    }
}
