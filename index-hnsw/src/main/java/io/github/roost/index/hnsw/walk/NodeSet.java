package io.github.roost.index.hnsw.walk;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.IntPredicate;

/**
 * Some of a table's nodes, a bit a node, off-heap. Thread-safe, with one thread at a time that removes: a walk that runs
 * meanwhile reads each word whole, so it sees a node either in the set or not.
 */
public final class NodeSet {
    /** Every node of any table. */
    public static final NodeSet ALL = new NodeSet(MemorySegment.NULL, Integer.MAX_VALUE, Integer.MAX_VALUE);

    private static final int WORD = Long.SIZE;

    private static final VarHandle WORDS = GraphImage.LONG.varHandle();

    private final MemorySegment words;
    private final int nodes;
    /** Written by whoever removes. */
    private volatile int size;

    private NodeSet(MemorySegment words, int nodes, int size) {
        this.words = words;
        this.nodes = nodes;
        this.size = size;
    }

    /** Those of the nodes 0 to {@code nodes} exclusive that are to be in the set. */
    public static NodeSet of(int nodes, IntPredicate member) {
        MemorySegment words = Arena.ofAuto().allocate((nodes + WORD - 1L) / WORD * Long.BYTES, Long.BYTES);
        int size = 0;
        for (int first = 0; first < nodes; first += WORD) {
            long word = 0;
            for (int node = first; node < Math.min(nodes, first + WORD); node++) {
                word |= member.test(node) ? 1L << node : 0;
            }
            size += Long.bitCount(word);
            words.setAtIndex(GraphImage.LONG, first / WORD, word);
        }
        return new NodeSet(words, nodes, size);
    }

    /** Nodes 0 to {@code nodes} exclusive, to remove from. */
    public static NodeSet full(int nodes) {
        return of(nodes, node -> true);
    }

    /** Takes a node out; searches that begin after this returns do not find it. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time removes; volatile for those that read
    public void remove(int node) {
        if (contains(node)) {
            long at = (long) (node / WORD) * Long.BYTES;
            WORDS.setRelease(words, at, (long) WORDS.get(words, at) & ~(1L << node));
            size--;
        }
    }

    /** The nodes that are in both sets, in memory that the next call with this scratch overwrites. */
    NodeSet and(NodeSet other, MemorySegment scratch) {
        int least = Math.min(nodes, other.nodes);
        int common = 0;
        for (int word = 0; word < (least + WORD - 1L) / WORD; word++) {
            long both = words.getAtIndex(GraphImage.LONG, word) & other.words.getAtIndex(GraphImage.LONG, word);
            scratch.setAtIndex(GraphImage.LONG, word, both);
            common += Long.bitCount(both);
        }
        return new NodeSet(scratch, least, common);
    }

    /** How many nodes are in the set. */
    public int size() {
        return size;
    }

    /** Whether a node is in the set. */
    public boolean contains(int node) {
        return this == ALL || (words.getAtIndex(GraphImage.LONG, node / WORD) >>> node & 1) != 0;
    }

    /** Whether any of the nodes {@code from} to {@code to} exclusive is in the set, which is not {@link #ALL}. */
    public boolean containsAny(int from, int to) {
        for (long node = from; node < to; node += WORD - node % WORD) {
            long rest = words.getAtIndex(GraphImage.LONG, node / WORD) >>> node;
            if (rest != 0) {
                return Long.numberOfTrailingZeros(rest) < to - node;
            }
        }
        return false;
    }

    /** The bits, or {@code NULL} for all nodes. */
    MemorySegment words(GraphImage image) {
        if (nodes < image.shape().nodes()) {
            throw new IllegalArgumentException(
                    "a set must be of all " + image.shape().nodes() + " nodes, got one of " + nodes);
        }
        return words;
    }
}
