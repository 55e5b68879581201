package io.github.roost.index.ivf.kernel;

import java.util.Arrays;

/**
 * Selection by counting: values are counted in even buckets between the min and the max, then one bucket is
 * sorted. Until then no branch depends on a value; for a few hundred unordered floats, mispredicted branches are the main cost
 * of quickselect (Hoare, 1961).
 */
public final class Smallest {
    private static final int BUCKETS = 256;
    /** Fewer values are sorted directly, which is faster. */
    private static final int MIN_COUNTED = 64;

    private Smallest() {}

    /** The value at index {@code n} if the first {@code count} values, none of them NaN, were sorted. */
    public static float nth(float[] values, int count, int n) {
        if (count < MIN_COUNTED) {
            return nthSorted(Arrays.copyOf(values, count), n);
        }
        float min = values[0];
        float max = values[0];
        for (int i = 1; i < count; i++) {
            min = Math.min(min, values[i]);
            max = Math.max(max, values[i]);
        }
        float scale = (BUCKETS - 1) / (max - min);
        if (!(scale > 0 && scale < Float.POSITIVE_INFINITY)) {
            return nthSorted(Arrays.copyOf(values, count), n);
        }
        int[] counts = new int[BUCKETS];
        for (int i = 0; i < count; i++) {
            counts[bucket(values[i], min, scale)]++;
        }
        int bucket = 0;
        int before = 0;
        while (before + counts[bucket] <= n) {
            before += counts[bucket++];
        }
        float[] within = new float[counts[bucket]];
        int next = 0;
        for (int i = 0; i < count; i++) {
            if (bucket(values[i], min, scale) == bucket) {
                within[next++] = values[i];
            }
        }
        return nthSorted(within, n - before);
    }

    /** {@link ScanKernel#bound}. */
    static float bound(ScoredRows rows, float certain, int wanted) {
        requireWanted(wanted);
        int counted = Math.min(wanted, rows.size + 1);
        for (int i = 0; i < rows.size; i++) {
            counted += rows.scores[i] <= certain ? 1 : 0;
        }
        return counted <= rows.size ? nth(rows.scores, rows.size, counted - 1) : Float.POSITIVE_INFINITY;
    }

    /** The argument check of every kernel. */
    static void requireWanted(int wanted) {
        if (wanted < 1) {
            throw new IllegalArgumentException("the number of rows wanted must be at least 1, got " + wanted);
        }
    }

    /** {@link ScanKernel#keepUpTo}. */
    static void keepUpTo(ScoredRows rows, float bound) {
        float[] scores = rows.scores;
        long[] places = rows.places;
        int kept = 0;
        for (int i = 0; i < rows.size; i++) {
            // Stored unconditionally and overwritten if not kept: a branch would often be mispredicted.
            scores[kept] = scores[i];
            places[kept] = places[i];
            kept += scores[i] <= bound ? 1 : 0;
        }
        rows.size = kept;
    }

    /** Monotonic in the value in spite of rounding. */
    private static int bucket(float value, float min, float scale) {
        return Math.min(BUCKETS - 1, (int) ((value - min) * scale));
    }

    private static float nthSorted(float[] values, int n) {
        Arrays.sort(values);
        return values[n];
    }
}
