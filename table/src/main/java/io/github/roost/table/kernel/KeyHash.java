package io.github.roost.table.kernel;

/**
 * Where a key belongs: in which slot of a table, and in which shard of several tables. Both mix all 64 bits one to
 * one: a multiplication by an odd number, which loses no bit of the key, then a finaliser, which brings the high bits, where a
 * product is well mixed, down and multiplies again. Stateless.
 *
 * <p>The two mixes have different factors: if a shard's keys were those with some bits of the slot's own hash in common, every
 * shard would fill but a fraction of its slots.
 */
public final class KeyHash {
    /** 2^64 divided by the golden ratio; lookup.h has the same. */
    private static final long FIRST = 0x9E3779B97F4A7C15L;
    /** Odd, too; lookup.h has the same. */
    private static final long SECOND = 0xD6E8FEB86659FD93L;

    private static final long SHARD_FIRST = 0xBF58476D1CE4E5B9L;
    private static final long SHARD_SECOND = 0x94D049BB133111EBL;

    private KeyHash() {}

    /** The hash whose highest bits are the slot. */
    static long slotHash(long key, long seed) {
        long product = (key ^ seed) * FIRST;
        return (product ^ product >>> 32) * SECOND;
    }

    /**
     * The shard of a key.
     *
     * @param shards how many there are, 1 or more
     */
    public static int shard(long key, int shards) {
        long product = (key ^ key >>> 32) * SHARD_FIRST;
        long hash = (product ^ product >>> 29) * SHARD_SECOND;
        return (int) Math.unsignedMultiplyHigh(hash, shards);
    }
}
