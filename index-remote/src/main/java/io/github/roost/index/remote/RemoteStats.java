package io.github.roost.index.remote;

/**
 * What a table has fetched, and what it found in its cache, since it was opened.
 *
 * @param reads partitions, or ends of their logs, that were fetched
 * @param bytesRead bytes of these
 * @param doorbells requests by which they were fetched
 * @param hits times that a group of queries found its partition in the cache
 * @param evictions partitions that made room for others
 * @param cachedBytes memory of the cache now, in bytes
 * @param damaged partitions that were refused for a wrong checksum
 * @param partial answers that lack a partition
 * @param epoch of the pool that searches see
 */
public record RemoteStats(
        long reads,
        long bytesRead,
        long doorbells,
        long hits,
        long evictions,
        long cachedBytes,
        long damaged,
        long partial,
        long epoch) {}
