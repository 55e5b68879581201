package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;

/**
 * Automatic sharding: the number of shards of the next version, so that no shard exceeds a maximum size. It follows from the size of the previous
 * version plus a quarter for growth. The number decreases only if half as many shards suffice, so that a table whose size fluctuates is not resharded
 * each time. A pure function.
 */
final class ShardCount {
    private static final double ROOM = 1.25;

    private ShardCount() {}

    /**
     * The number of shards of the next version.
     *
     * @param before the number of shards of the previous version, 0 if there is none
     * @param bytes the total size of these shards, 0 or more
     * @param maxShardBytes the maximum size of a shard in bytes, 1 or more
     * @param minShards the minimum number of shards, for example one per server of a group; from 1 to {@link Served#MAX_SHARDS}
     * @return from {@code minShards} to {@link Served#MAX_SHARDS}
     */
    public static int next(int before, long bytes, long maxShardBytes, int minShards) {
        Vectors.requireRange("before", before, 0, Served.MAX_SHARDS);
        Vectors.requireRange("bytes", bytes, 0, Long.MAX_VALUE);
        Vectors.requireRange("maxShardBytes", maxShardBytes, 1, Long.MAX_VALUE);
        Vectors.requireRange("minShards", minShards, 1, Served.MAX_SHARDS);
        double wished = Math.max(minShards, Math.ceil(bytes * ROOM / maxShardBytes));
        boolean isEnough = before >= wished;
        boolean areFewerWorthIt = before >= 2 * wished;
        double next = isEnough && !areFewerWorthIt ? before : wished;
        return (int) Math.min(Served.MAX_SHARDS, next);
    }
}
