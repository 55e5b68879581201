package io.github.roost.index.remote.cache;

import java.util.Arrays;

/**
 * The order of eviction: least recent traffic first, then least recently used. Recent traffic is the traffic since the last look plus half of the
 * previous value (an exponentially decaying sum). Belongs to the cache; reads no clock.
 */
final class EvictionOrder {
    private long[] totals;
    private final double[] late;

    EvictionOrder(int partitions) {
        this.totals = new long[partitions];
        this.late = new double[partitions];
    }

    /** Updates recent traffic with the monitor's sums, one per partition. */
    void look(long[] now) {
        for (int i = 0; i < late.length; i++) {
            late[i] = late[i] / 2 + Math.max(0, now[i] - totals[i]);
        }
        totals = Arrays.copyOf(now, late.length);
    }

    /** Whether a partition is evicted before another one. */
    boolean goesFirst(int partition, long used, int other, long otherUsed) {
        return late[partition] != late[other] ? late[partition] < late[other] : used < otherUsed;
    }
}
