package io.github.roost.index.remote;

import java.util.Arrays;

/**
 * Which partition is worth least: the one with the least traffic of late, and among those the one whose last use is longest ago. Late
 * traffic is that since the last look, and half of what it was before. Belongs to the cache; knows no clock.
 */
final class EvictionOrder {
    private long[] totals;
    private final double[] late;

    EvictionOrder(int partitions) {
        this.totals = new long[partitions];
        this.late = new double[partitions];
    }

    /** Looks at the monitor's sums, one per partition. */
    void look(long[] now) {
        for (int i = 0; i < late.length; i++) {
            late[i] = late[i] / 2 + Math.max(0, now[i] - totals[i]);
        }
        totals = Arrays.copyOf(now, late.length);
    }

    /** Whether one partition goes before another. */
    boolean goesFirst(int partition, long used, int other, long otherUsed) {
        return late[partition] != late[other] ? late[partition] < late[other] : used < otherUsed;
    }
}
