package io.github.roost.index.hnsw.search;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Bit set of a graph's nodes. Thread-safe if one thread at a time removes: a concurrent search
 * reads each word atomically, so it sees a node either in the set or not.
 *
 * <p>A set that nodes are removed from is off-heap, where C can read it. The set of a filter is on the heap, because many filters
 * are used for one search only: each search copies it to its scratch memory. After several searches the set gets an off-heap
 * copy of its own.
 */
public final class NodeSet {
    /** All nodes of any graph. */
    public static final NodeSet ALL = new NodeSet(MemorySegment.NULL, Integer.MAX_VALUE, Integer.MAX_VALUE, 0);

    private static final int WORD = Long.SIZE;
    /** Number of searches after which a set gets an off-heap copy of its own. */
    private static final int SEARCHES_FOR_COPY = 8;

    private static final VarHandle WORDS = GraphImage.LONG.varHandle();

    private final MemorySegment words;
    private final int nodes;
    /** Written by the removing thread. */
    private volatile int size;
    /** Incremented by all searches without synchronization: an approximate count is enough. */
    private int searches;
    /** The off-heap copy, once there is one. */
    private volatile @Nullable NodeSet copy;

    /** Number of bits if the bits are indexed by label, otherwise 0. */
    private final int labels;

    private NodeSet(MemorySegment words, int nodes, int size) {
        this(words, nodes, size, 0);
    }

    private NodeSet(MemorySegment words, int nodes, int size, int labels) {
        this.words = words;
        this.nodes = nodes;
        this.size = size;
        this.labels = labels;
    }

    /**
     * The nodes whose label is the index of a set bit, for graph searches of an image without vectors.
     *
     * @param words the bits, 64 per word, lowest bit first
     * @param labels number of bits; a search that reads a label from this on throws a {@link DamagedImageException}
     * @param scratch holds the copy that searches read, until its next set
     */
    public static NodeSet ofLabels(long[] words, int labels, SearchScratch scratch) {
        int count = Math.toIntExact(wordsOf(labels));
        MemorySegment room = scratch.roomForSet(labels);
        MemorySegment.copy(words, 0, room, GraphImage.LONG, 0, count);
        return new NodeSet(room, Integer.MAX_VALUE, labels, labels);
    }

    private static long wordsOf(int nodes) {
        return (nodes + WORD - 1L) / WORD;
    }

    /** A resumable evaluation of a predicate over the nodes of a set. Used by one thread at a time. */
    public static final class Asking {
        private final MemorySegment words;
        private final int nodes;
        private final int to;
        private int size;
        private int next;

        public Asking(int nodes) {
            this(nodes, 0, nodes);
        }

        /**
         * An evaluation over a part of the nodes; the set has no others.
         *
         * @param from the first node; up to 63 nodes before it are evaluated too
         * @param to the node after the last
         */
        public Asking(int nodes, int from, int to) {
            this.words = MemorySegment.ofArray(new long[Math.toIntExact(wordsOf(nodes))]);
            this.nodes = nodes;
            this.to = to;
            this.next = from / WORD * WORD;
        }

        /**
         * Evaluates the remaining nodes.
         *
         * @param betweenWords runs between two words; if it or the predicate throws, the next call resumes
         * @return the set of all nodes for which the predicate was true
         */
        public NodeSet resume(IntPredicate member, Runnable betweenWords) {
            for (int first = next; first < to; first = next) {
                int end = (int) Math.min(to, first + (long) WORD);
                long word = 0;
                for (int node = first; node < end; node++) {
                    word |= member.test(node) ? 1L << node : 0;
                }
                words.setAtIndex(GraphImage.LONG, first / WORD, word);
                size += Long.bitCount(word);
                next = end;
                if (end < to) {
                    betweenWords.run();
                }
            }
            return new NodeSet(words, nodes, size);
        }
    }

    /** The nodes from 0 to {@code nodes} exclusive for which a predicate is true. */
    public static NodeSet of(int nodes, IntPredicate member) {
        return new Asking(nodes).resume(member, () -> {});
    }

    /** All nodes from 0 to {@code nodes} exclusive, as an off-heap set that nodes can be removed from. */
    public static NodeSet full(int nodes) {
        return of(nodes, node -> true).ofItsOwn();
    }

    private NodeSet ofItsOwn() {
        MemorySegment own = Arena.ofAuto().allocate(words.byteSize(), Long.BYTES);
        MemorySegment.copy(words, 0, own, 0, words.byteSize());
        return new NodeSet(own, nodes, size);
    }

    /** This set off-heap, or null if the caller must copy it. */
    @Nullable
    NodeSet offHeap() {
        if (words.isNative()) {
            return this;
        }
        NodeSet known = copy;
        if (known == null && ++searches > SEARCHES_FOR_COPY) {
            known = ofItsOwn();
            copy = known;
        }
        return known;
    }

    /** Copies this set to other memory, which the returned set refers to. */
    NodeSet copyTo(MemorySegment room, int run, Runnable betweenRuns) {
        long count = wordsOf(nodes);
        for (long word = 0; word < count; word += run) {
            if (word > 0) {
                betweenRuns.run();
            }
            long bytes = Math.min(run, count - word) * Long.BYTES;
            MemorySegment.copy(words, word * Long.BYTES, room, word * Long.BYTES, bytes);
        }
        return new NodeSet(room, nodes, size);
    }

    /** Removes a node; searches that begin after this returns do not find it. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // only one thread at a time removes; volatile for the reading threads
    public void remove(int node) {
        if (contains(node)) {
            long at = (long) (node / WORD) * Long.BYTES;
            WORDS.setRelease(words, at, (long) WORDS.get(words, at) & ~(1L << node));
            size--;
        }
    }

    /** Writes the intersection of both sets to other memory, which the returned set refers to. */
    NodeSet and(NodeSet other, MemorySegment room, int run, Runnable betweenRuns) {
        int min = Math.min(nodes, other.nodes);
        int common = 0;
        for (int word = 0; word < wordsOf(min); word++) {
            if (word > 0 && word % run == 0) {
                betweenRuns.run();
            }
            long both = words.getAtIndex(GraphImage.LONG, word) & other.words.getAtIndex(GraphImage.LONG, word);
            room.setAtIndex(GraphImage.LONG, word, both);
            common += Long.bitCount(both);
        }
        return new NodeSet(room, min, common);
    }

    /** Size of the bits in bytes. */
    public long bytes() {
        return words.byteSize();
    }

    /** Number of nodes in the set. */
    public int size() {
        return size;
    }

    /** Whether a node is in the set. */
    public boolean contains(int node) {
        return this == ALL || (words.getAtIndex(GraphImage.LONG, node / WORD) >>> node & 1) != 0;
    }

    /** Whether a graph search may return a node. */
    boolean allows(GraphImage image, int node) {
        if (labels == 0) {
            return contains(node);
        }
        int label = image.label(node);
        if (label < 0 || label >= labels) {
            throw new DamagedImageException();
        }
        return contains(label);
    }

    /** Number of bits if the bits are indexed by label, otherwise 0. */
    int labels() {
        return labels;
    }

    /** Whether any node from {@code from} to {@code to} exclusive is in the set. Not for {@link #ALL}. */
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
