package io.github.roost.index.hnsw.walk;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Some of a table's nodes, one bit per node. Thread-safe, with one thread at a time that removes: a walk that runs meanwhile
 * reads each word whole, so it sees a node either in the set or not.
 *
 * <p>A set to remove from lies off-heap, where walks read it. One that a filter makes lies on the heap, because many filters
 * are made for one search: who searches copies it to where walks read it, until it has been searched with so often that it
 * has earned a copy of its own.
 */
public final class NodeSet {
    /** Every node of any table. */
    public static final NodeSet ALL = new NodeSet(MemorySegment.NULL, Integer.MAX_VALUE, Integer.MAX_VALUE, 0);

    private static final int WORD = Long.SIZE;
    /** Searches with a set after which it has a copy of its own off-heap. */
    private static final int SEARCHES_FOR_COPY = 8;

    private static final VarHandle WORDS = GraphImage.LONG.varHandle();

    private final MemorySegment words;
    private final int nodes;
    /** Written by whoever removes. */
    private volatile int size;
    /** Counted by all who search, of whom some may be missed. */
    private int searches;
    /** The set off-heap, once it has earned that. */
    private volatile @Nullable NodeSet copy;

    /** How many bits there are, where bits are by label; otherwise 0. */
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
     * The nodes whose label is the index of a set bit, for an image without vectors: only to walk with.
     *
     * @param words the bits, 64 a word, the lowest first
     * @param labels how many bits count; a node with a higher label damages its image
     * @param scratch has the copy that walks read, until its next such call
     */
    public static NodeSet ofLabels(long[] words, int labels, WalkScratch scratch) {
        int count = Math.toIntExact(wordsOf(labels));
        MemorySegment room = scratch.roomForSet(labels);
        MemorySegment.copy(words, 0, room, GraphImage.LONG, 0, count);
        return new NodeSet(room, Integer.MAX_VALUE, labels, labels);
    }

    private static long wordsOf(int nodes) {
        return (nodes + WORD - 1L) / WORD;
    }

    /** Asks about the nodes 0 to {@code nodes} exclusive, in as many goes as it takes. Belongs to one thread at a time. */
    public static final class Asking {
        private final MemorySegment words;
        private final int nodes;
        private int size;
        private int next;

        public Asking(int nodes) {
            this.words = MemorySegment.ofArray(new long[Math.toIntExact(wordsOf(nodes))]);
            this.nodes = nodes;
        }

        /**
         * Goes on to the end.
         *
         * @param betweenWords runs between two words; what it, or the predicate, throws ends this go
         * @return those of the nodes that are to be in the set
         */
        public NodeSet goOn(IntPredicate member, Runnable betweenWords) {
            for (int first = next; first < nodes; first = next) {
                int end = (int) Math.min(nodes, first + (long) WORD);
                long word = 0;
                for (int node = first; node < end; node++) {
                    word |= member.test(node) ? 1L << node : 0;
                }
                words.setAtIndex(GraphImage.LONG, first / WORD, word);
                size += Long.bitCount(word);
                next = end;
                if (end < nodes) {
                    betweenWords.run();
                }
            }
            return new NodeSet(words, nodes, size);
        }
    }

    /** Those of the nodes 0 to {@code nodes} exclusive that are to be in the set. */
    public static NodeSet of(int nodes, IntPredicate member) {
        return new Asking(nodes).goOn(member, () -> {});
    }

    /** Nodes 0 to {@code nodes} exclusive, to remove from. */
    public static NodeSet full(int nodes) {
        return of(nodes, node -> true).ofItsOwn();
    }

    private NodeSet ofItsOwn() {
        MemorySegment own = Arena.ofAuto().allocate(words.byteSize(), Long.BYTES);
        MemorySegment.copy(words, 0, own, 0, words.byteSize());
        return new NodeSet(own, nodes, size);
    }

    /** This set where walks can read it, or null if it has to be copied. */
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

    /** This set in other memory, which the next call with it overwrites. */
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

    /** Takes a node out; searches that begin after this returns do not find it. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time removes; volatile for those that read
    public void remove(int node) {
        if (contains(node)) {
            long at = (long) (node / WORD) * Long.BYTES;
            WORDS.setRelease(words, at, (long) WORDS.get(words, at) & ~(1L << node));
            size--;
        }
    }

    /** The nodes that are in both sets, in memory that the next call with it overwrites. */
    NodeSet and(NodeSet other, MemorySegment room, int run, Runnable betweenRuns) {
        int least = Math.min(nodes, other.nodes);
        int common = 0;
        for (int word = 0; word < wordsOf(least); word++) {
            if (word > 0 && word % run == 0) {
                betweenRuns.run();
            }
            long both = words.getAtIndex(GraphImage.LONG, word) & other.words.getAtIndex(GraphImage.LONG, word);
            room.setAtIndex(GraphImage.LONG, word, both);
            common += Long.bitCount(both);
        }
        return new NodeSet(room, least, common);
    }

    /** What the set takes. */
    public long bytes() {
        return words.byteSize();
    }

    /** How many nodes are in the set. */
    public int size() {
        return size;
    }

    /** Whether a node is in the set. */
    public boolean contains(int node) {
        return this == ALL || (words.getAtIndex(GraphImage.LONG, node / WORD) >>> node & 1) != 0;
    }

    /** Whether a walk of an image may find a node. */
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

    /** How many bits there are, where bits are by label; otherwise 0. */
    int labels() {
        return labels;
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
