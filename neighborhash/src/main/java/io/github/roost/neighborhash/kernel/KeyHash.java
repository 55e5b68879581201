package io.github.roost.neighborhash.kernel;

/**
 * The hash functions of keys: the slot of a key in a table, and its shard among several tables. Both are bijective mixes of all
 * 64 bits: a multiplication by an odd number, then a finalizer that shifts down the high bits, where a product is well mixed, and
 * multiplies again. Stateless.
 *
 * <p>The two mixes have different factors: if shards were chosen by bits of the slot hash, the keys of a shard would share these
 * bits, and would use only a fraction of its slots.
 */
public final class KeyHash {
    /** 2^64 divided by the golden ratio; lookup.h has the same. */
    private static final long FIRST = 0x9E3779B97F4A7C15L;
    /** An odd number; lookup.h has the same. */
    private static final long SECOND = 0xD6E8FEB86659FD93L;

    private static final long SHARD_FIRST = 0xBF58476D1CE4E5B9L;
    private static final long SHARD_SECOND = 0x94D049BB133111EBL;

    private KeyHash() {}

    /** The hash whose highest bits are the slot number. */
    static long slotHash(long key, long seed) {
        long product = (key ^ seed) * FIRST;
        return (product ^ product >>> 32) * SECOND;
    }

    /**
     * The shard of a key.
     *
     * @param shards the number of shards, 1 or more
     */
    public static int shard(long key, int shards) {
        long product = (key ^ key >>> 32) * SHARD_FIRST;
        long hash = (product ^ product >>> 29) * SHARD_SECOND;
        return (int) Math.unsignedMultiplyHigh(hash, shards);
    }
}
