package io.github.roost.tableservice;

import io.github.roost.core.Vectors;

/**
 * Into how many shards the keys of the next version are divided, so that none is larger than is wished: automatic sharding. It is decided by what the
 * version before takes, with a quarter of room to grow. There are fewer only where half as many would do: a table whose size
 * goes up and down a little is not divided anew each time. A pure function.
 */
public final class ShardCount {
    private static final double ROOM = 1.25;

    private ShardCount() {}

    /**
     * How many shards.
     *
     * @param before shards of the version before, 0 if there is none
     * @param bytes that all of them take together, 0 or more
     * @param mostShardBytes that a shard may take, 1 or more
     * @param least shards, such as one for each server of a group; from 1 to {@link Served#MAX_SHARDS}
     * @return from {@code least} to {@link Served#MAX_SHARDS}
     */
    public static int next(int before, long bytes, long mostShardBytes, int least) {
        Vectors.requireRange("before", before, 0, Served.MAX_SHARDS);
        Vectors.requireRange("bytes", bytes, 0, Long.MAX_VALUE);
        Vectors.requireRange("mostShardBytes", mostShardBytes, 1, Long.MAX_VALUE);
        Vectors.requireRange("least", least, 1, Served.MAX_SHARDS);
        double wished = Math.max(least, Math.ceil(bytes * ROOM / mostShardBytes));
        boolean isEnough = before >= wished;
        boolean areFewerWorthIt = before >= 2 * wished;
        double next = isEnough && !areFewerWorthIt ? before : wished;
        return (int) Math.min(Served.MAX_SHARDS, next);
    }
}
