package io.github.roost.index.remote;

/**
 * Counts of fetches and cache hits of a table since it was opened.
 *
 * @param reads fetches of partitions or of ends of their logs
 * @param bytesRead bytes of these fetches
 * @param doorbells requests to the network card for these fetches
 * @param hits times that a group of queries found its partition in the cache
 * @param evictions partitions evicted from the cache
 * @param cachedBytes current memory of the cache, in bytes
 * @param damaged reads of partitions that failed their checksums
 * @param partial answers with a missing partition
 * @param epoch the pool's epoch as this table last read it
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
