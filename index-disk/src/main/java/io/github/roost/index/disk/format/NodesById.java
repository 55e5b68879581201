package io.github.roost.index.disk.format;

import java.util.SplittableRandom;

/**
 * The nodes of live rows by external id, which the codes have: chains of nodes in buckets. With each row that is added, one bucket is divided in two
 * (linear hashing; Litwin, VLDB 1980), so there is no update at which all rows move. Some 8 bytes per row. Used by one thread at a time, with the
 * current codes.
 */
public final class NodesById {
    private static final int NONE = -1;

    private final long seed = new SplittableRandom().nextLong();
    /** The first node of each bucket, plus one; 0 for none. */
    private final IntChunks first = new IntChunks();
    /** The same for the node after each node. */
    private final IntChunks following = new IntChunks();

    private int buckets = 1;
    private int size;
    /** The end of the nodes that were put. */
    private int end;

    /** The live rows of a table. */
    public static NodesById of(ProductCodes codes) {
        NodesById all = new NodesById();
        all.buckets = Math.max(1, codes.nodes());
        for (int node = 0; node < codes.nodes(); node++) {
            if (codes.state(node) == ProductCodes.LIVE) {
                all.put(codes, node);
            }
        }
        return all;
    }

    private int bucket(long id) {
        long mixed = (id ^ seed) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        int undivided = Integer.highestOneBit(buckets);
        int bucket = (int) (mixed >>> 32) & (2 * undivided - 1);
        return bucket < buckets ? bucket : bucket - undivided;
    }

    /** The node with an id, or -1. */
    public int get(ProductCodes codes, long id) {
        int node = first.get(bucket(id)) - 1;
        while (node != NONE && codes.id(node) != id) {
            node = following.get(node) - 1;
        }
        return node;
    }

    /** Adds a node, in place of the one with the same id; returns that one, or -1. */
    public int put(ProductCodes codes, int node) {
        long id = codes.id(node);
        int before = remove(codes, id);
        if (size == buckets) {
            divide(codes);
        }
        link(node, bucket(id));
        size++;
        end = Math.max(end, node + 1);
        return before;
    }

    private void link(int node, int bucket) {
        following.set(node, first.get(bucket));
        first.set(bucket, node + 1);
    }

    /** Divides a bucket between itself and a new one. */
    private void divide(ProductCodes codes) {
        int divided = buckets - Integer.highestOneBit(buckets);
        int node = first.get(divided) - 1;
        first.set(divided, 0);
        buckets++;
        while (node != NONE) {
            int after = following.get(node) - 1;
            link(node, bucket(codes.id(node)));
            node = after;
        }
    }

    /** Takes the node with an id out; returns it, or -1. */
    public int remove(ProductCodes codes, long id) {
        int bucket = bucket(id);
        int before = NONE;
        int node = first.get(bucket) - 1;
        while (node != NONE && codes.id(node) != id) {
            before = node;
            node = following.get(node) - 1;
        }
        if (node == NONE) {
            return NONE;
        }
        if (before == NONE) {
            first.set(bucket, following.get(node));
        } else {
            following.set(before, following.get(node));
        }
        size--;
        return node;
    }

    /** Bytes of memory. */
    public long bytes() {
        return (long) Integer.BYTES * (buckets + end);
    }

    /** The {@link #bytes} after {@code more} more nodes. */
    public long bytesWith(int more) {
        return bytes() + 2L * Integer.BYTES * more;
    }
}
