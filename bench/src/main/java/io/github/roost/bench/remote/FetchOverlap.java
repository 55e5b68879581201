package io.github.roost.bench.remote;

import java.util.Arrays;

/**
 * How much of a batch's fetch time overlaps with searching: partitions arrive doorbell by doorbell over one link, and each is searched, once it has
 * arrived, by the first free worker. Computed from modeled and measured times.
 *
 * @param fetchNanos time of all fetches on the link
 * @param searchNanos end of the last search if nothing has to be fetched
 * @param bothNanos end of the last search with fetches
 */
public record FetchOverlap(long fetchNanos, long searchNanos, long bothNanos) {
    /**
     * Simulates a batch.
     *
     * @param network the link
     * @param readsPerDoorbell partitions per doorbell
     * @param bytes of each partition, in the order of their fetches
     * @param search how long one worker searches each partition, in nanoseconds
     * @param workers number of searching workers
     */
    public static FetchOverlap of(
            NetworkModel network, int readsPerDoorbell, long[] bytes, long[] search, int workers) {
        long[] present = new long[bytes.length];
        long link = 0;
        for (int first = 0; first < bytes.length; first += readsPerDoorbell) {
            int end = Math.min(bytes.length, first + readsPerDoorbell);
            long begin = link;
            long sum = 0;
            for (int i = first; i < end; i++) {
                sum += bytes[i];
                // Partitions of a doorbell arrive in order.
                present[i] = begin + network.roundTripNanos() + network.occupied(i - first + 1, sum);
            }
            link = begin + network.occupied(end - first, sum);
        }
        return new FetchOverlap(
                link + network.roundTripNanos(),
                ends(new long[bytes.length], search, workers),
                ends(present, search, workers));
    }

    private static long ends(long[] present, long[] search, int workers) {
        long[] free = new long[workers];
        for (int i = 0; i < present.length; i++) {
            Arrays.sort(free);
            free[0] = Math.max(free[0], present[i]) + search[i];
        }
        return Arrays.stream(free).max().orElse(0);
    }

    /** The share of the fetch time that adds nothing to the batch's time, from 0 to 1. */
    public double hidden() {
        return fetchNanos == 0 ? 1 : Math.clamp(1 - (double) (bothNanos - searchNanos) / fetchNanos, 0, 1);
    }
}
