package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.format.DiskLayout.FLOAT;
import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.LONG;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_BYTES;

import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The in-memory part of a table, off-heap: per node the external id, the state and a code of the vector, by product
 * quantization (Jégou et al., IEEE TPAMI 33(1), 2011). A search computes a distance table for its query once; the distance to a node
 * is then one addition per byte of its code.
 *
 * <p>One thread at a time writes, any number read. A node's code and id are written while its state is {@link #FREE}. A search may have met the
 * node, or read its page, while it had an earlier row: then the distance estimate is wrong, and the page has the id of the earlier row. So a search
 * answers with a row of a page only if {@link #isRow}. The state is written with release and read with acquire semantics: who sees that a row
 * is live sees its id.
 * When the codes are learned again, a new object takes the place of the old one, which is kept for the searches that use it and no longer changed: they
 * may find rows that are deleted meanwhile. Memory is freed when the table and all searches have called {@link #close}.
 */
public final class ProductCodes implements AutoCloseable {
    /** Row blocks of one allocation. */
    private static final int CHUNK_BLOCKS = 64;

    private static final VarHandle STATE = ValueLayout.JAVA_BYTE.varHandle();

    /**
     * Unused or reusable: no edge of the graph leads to it, except while a row is inserted there, and from deleted nodes that are to be free as
     * well; a search may still hold an earlier one.
     */
    public static final byte FREE = 0;
    /** A row that may be found. */
    public static final byte LIVE = 1;
    /** Deleted: searches follow its edges, but do not find it. */
    public static final byte DEAD = 2;

    /**
     * Added to the state of a row that no edge leads to, but whose {@link #twin} is found: one of the nodes in its ring has an equal row
     * and edges that lead to it.
     */
    public static final byte HANGS_ON = 4;

    private final DiskLayout layout;
    /** Of mapped memory, which goes back to the system as soon as the table is closed; that of malloc may not. */
    private final Arena arena = Arena.ofShared();

    private final MemorySegment centroids;
    /** {@link DiskLayout#partBegin} of each part and of the end; cached, as it takes two divisions and inner loops need it. */
    private final int[] partBegins;

    /**
     * The centroids in the scale of distances.
     *
     * @param scale factor for components
     * @param centroids one after another
     */
    private record InScale(float scale, float[] centroids) {}

    /** Made on first use, when all centroids are present. */
    private volatile @Nullable InScale inScale;

    private final Twins twins = new Twins();
    private volatile MemorySegment[] chunks = new MemorySegment[0];
    private volatile int nodes;
    private volatile CodeErrors errors = CodeErrors.UNKNOWN;
    /** The table, while these are its codes, and the searches that use them. */
    private final AtomicInteger users = new AtomicInteger(1);

    /** What follows when the memory is freed, if others have taken the place of these. */
    private volatile @Nullable Runnable whenFreed;

    /** No nodes yet; the centroids must be written before the first code. */
    public ProductCodes(DiskLayout layout) {
        this.layout = layout;
        this.centroids = DomainMemory.allocateUncounted((long) layout.centroidBlocks() * PAGE_BYTES, arena);
        this.partBegins = IntStream.rangeClosed(0, layout.codeBytes())
                .map(layout::partBegin)
                .toArray();
    }

    public DiskLayout layout() {
        return layout;
    }

    public int nodes() {
        return nodes;
    }

    public MemorySegment centroids() {
        return centroids;
    }

    /** Sets the centroids, one after another, before the first code. */
    public void setCentroids(float[] values) {
        MemorySegment.copy(values, 0, centroids, FLOAT, 0, values.length);
    }

    /** Makes room for {@code count} nodes; new ones are free. */
    public void grow(int count) {
        int chunk = Math.ceilDiv(layout.rowBlocks(count), CHUNK_BLOCKS);
        MemorySegment[] before = chunks;
        if (chunk > before.length) {
            MemorySegment[] after = Arrays.copyOf(before, chunk);
            for (int i = before.length; i < chunk; i++) {
                after[i] = DomainMemory.allocateUncounted((long) CHUNK_BLOCKS * PAGE_BYTES, arena);
            }
            chunks = after;
        }
        nodes = count;
    }

    /** Off-heap bytes; 0 after {@link #close}. */
    public long bytes() {
        if (!arena.scope().isAlive()) {
            return 0;
        }
        return bytesOf(chunks.length);
    }

    /** The {@link #bytes} after {@code more} more nodes. */
    public long bytesWith(int more) {
        return bytesOf(Math.ceilDiv(layout.rowBlocks(nodes + more), CHUNK_BLOCKS));
    }

    private long bytesOf(int count) {
        return centroids.byteSize() + (long) count * CHUNK_BLOCKS * PAGE_BYTES;
    }

    /** A row block, as in the file except for its header. */
    MemorySegment block(int number) {
        return chunks[number / CHUNK_BLOCKS].asSlice((long) (number % CHUNK_BLOCKS) * PAGE_BYTES, PAGE_BYTES);
    }

    private static long offset(int block) {
        return (long) (block % CHUNK_BLOCKS) * PAGE_BYTES;
    }

    public long id(int node) {
        int block = layout.rowBlockOf(node);
        return chunks[block / CHUNK_BLOCKS].get(LONG, offset(block) + layout.rowOffset(node));
    }

    /** {@link #FREE}, {@link #LIVE} or {@link #DEAD}. */
    public byte state(int node) {
        return (byte) (fullState(node) & ~HANGS_ON);
    }

    /** Whether the row {@link #HANGS_ON} another one. */
    public boolean hangsOn(int node) {
        return (fullState(node) & HANGS_ON) != 0;
    }

    private byte fullState(int node) {
        int block = layout.rowBlockOf(node);
        return (byte) STATE.getAcquire(
                chunks[block / CHUNK_BLOCKS], offset(block) + DiskLayout.stateOffset(layout.rowOffset(node)));
    }

    /** Whether the node has this row and it is live: a page that was read earlier may have another row of the same node. */
    public boolean isRow(int node, long id) {
        // In this order: the id of a live row does not change.
        return state(node) == LIVE && id(node) == id;
    }

    /** The nodes of a page, relative to its first, that are live or deleted: these are on the page from before to long after. */
    public BitSet used(int page) {
        int first = layout.firstNode(page);
        BitSet used = new BitSet();
        for (int node = first; node < Math.min(nodes, first + layout.nodesPerPage()); node++) {
            byte state = state(node);
            used.set(node - first, state == LIVE || state == DEAD);
        }
        return used;
    }

    public void setState(int node, byte state) {
        STATE.setRelease(block(layout.rowBlockOf(node)), DiskLayout.stateOffset(layout.rowOffset(node)), state);
    }

    public void put(int node, long id, byte[] code, byte state) {
        MemorySegment block = block(layout.rowBlockOf(node));
        long row = layout.rowOffset(node);
        block.set(LONG, row, id);
        MemorySegment.copy(code, 0, block, ValueLayout.JAVA_BYTE, DiskLayout.codeOffset(row), code.length);
        STATE.setRelease(block, DiskLayout.stateOffset(row), state);
    }

    /**
     * The next of the nodes with rows that equal a node's row, in a ring; the node itself if it has none. Rows of equal codes may
     * count as equal.
     */
    public int twin(int node) {
        return twins.next(node);
    }

    /** Visits the others of a node's ring, as long as the visitor wants more; also while the ring is changed, when it may visit a node twice. */
    public void forEachTwin(int node, IntPredicate visitor) {
        Twins.walk(node, this::twin, visitor);
    }

    /** Adds a node, which has no twin, to the ring of another one with an equal row. Writer only. */
    public void joinTwin(int node, int other) {
        twins.join(node, other);
    }

    /** Takes a node from its ring, before another row gets it. Writer only. */
    public void leaveTwins(int node) {
        twins.leave(node);
    }

    /** Whether two nodes have equal codes. */
    public boolean hasSameCode(int node, int other) {
        byte[] one = new byte[layout.codeBytes()];
        byte[] two = one.clone();
        read(node, one);
        read(other, two);
        return Arrays.equals(one, two);
    }

    /** Finds all nodes of equal codes, once all nodes are there. */
    public void findTwins() {
        twins.find(this);
    }

    /** Fills the distance table of a query, {@link #inScale(float[])}: squared distances of each of its parts to all centroids of the part. */
    public void distances(float[] query, float[] into) {
        distances(query, into, 0, layout.codeBytes());
    }

    /** The same for some parts. */
    public void distances(float[] query, float[] into, int from, int to) {
        float[] centroid = centroidsOnHeap();
        for (int part = from; part < to; part++) {
            int begin = partBegins[part];
            int end = partBegins[part + 1];
            for (int number = 0; number < CENTROIDS; number++) {
                int at = number * layout.dimension();
                float sum = 0;
                for (int i = begin; i < end; i++) {
                    float difference = query[i] - centroid[at + i];
                    sum += difference * difference;
                }
                into[part * CENTROIDS + number] = sum;
            }
        }
    }

    /**
     * The squared distance of a query to a node's code, by the table from {@link #distances}.
     *
     * @param code scratch memory, as long as a code
     */
    public float distance(float[] distances, int node, byte[] code) {
        read(node, code);
        float even = 0;
        float odd = 0;
        int part = 0;
        for (; part + 1 < code.length; part += 2) {
            even += distances[part * CENTROIDS + (code[part] & 0xff)];
            odd += distances[(part + 1) * CENTROIDS + (code[part + 1] & 0xff)];
        }
        if (part < code.length) {
            even += distances[part * CENTROIDS + (code[part] & 0xff)];
        }
        return even + odd;
    }

    /** Decodes a node's code in the scale of all distances; {@code code} is scratch memory. */
    public void decode(int node, float[] into, byte[] code) {
        read(node, code);
        float[] centroid = centroidsOnHeap();
        for (int part = 0; part < code.length; part++) {
            int at = (code[part] & 0xff) * layout.dimension();
            for (int i = partBegins[part]; i < partBegins[part + 1]; i++) {
                into[i] = centroid[at + i];
            }
        }
    }

    /** The squared distance of a vector, {@link #inScale(float[])}, to a decoded code, without a distance table. */
    public float distanceOf(float[] from, byte[] code) {
        float[] centroid = centroidsOnHeap();
        float sum = 0;
        for (int part = 0; part < code.length; part++) {
            int at = (code[part] & 0xff) * layout.dimension();
            for (int i = partBegins[part]; i < partBegins[part + 1]; i++) {
                float difference = from[i] - centroid[at + i];
                sum += difference * difference;
            }
        }
        return sum;
    }

    /** In one copy: single bytes off-heap cost several nanoseconds each if pages on the heap are read as well. */
    void read(int node, byte[] code) {
        int block = layout.rowBlockOf(node);
        long row = layout.rowOffset(node);
        MemorySegment.copy(
                chunks[block / CHUNK_BLOCKS],
                ValueLayout.JAVA_BYTE,
                offset(block) + DiskLayout.codeOffset(row),
                code,
                0,
                code.length);
    }

    private float[] centroidsOnHeap() {
        return inScale().centroids;
    }

    private InScale inScale() {
        InScale made = inScale;
        if (made == null) {
            float[] copy =
                    centroids.asSlice(0, layout.centroidOffset(CENTROIDS, 0)).toArray(FLOAT);
            float scale = Units.scale(copy, layout.dimension());
            Units.multiply(copy, scale);
            made = new InScale(scale, copy);
            inScale = made;
        }
        return made;
    }

    /** A vector in the scale of all distances; the same object if that is one. */
    public float[] inScale(float[] vector) {
        float scale = inScale().scale;
        if (scale == 1) {
            return vector;
        }
        float[] copy = vector.clone();
        Units.multiply(copy, scale);
        return copy;
    }

    /** Reads a node's vector in the scale of all distances. */
    public void vector(NodePage page, int node, float[] into) {
        page.vector(node, into);
        float scale = inScale().scale;
        if (scale != 1) {
            Units.multiply(into, scale);
        }
    }

    /** The metric's distance for a squared distance in the scale of all distances. */
    public float reported(Metric metric, float squared) {
        double scale = inScale().scale;
        return Space.reported(metric, (float) (squared / scale / scale));
    }

    /** Encodes some parts of a vector as their nearest centroids, by the table from {@link #distances}; returns the error. */
    public double encode(float[] distances, byte[] code, int from, int to) {
        double error = 0;
        for (int part = from; part < to; part++) {
            int nearest = 0;
            for (int centroid = 1; centroid < CENTROIDS; centroid++) {
                if (distances[part * CENTROIDS + centroid] < distances[part * CENTROIDS + nearest]) {
                    nearest = centroid;
                }
            }
            code[part] = (byte) nearest;
            error += distances[part * CENTROIDS + nearest];
        }
        return error;
    }

    /** Keeps the memory for a reader, until it calls {@link #close}; false if it is freed already. */
    boolean enter() {
        return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Gives the memory up; the last to do so frees it. */
    @Override
    public void close() {
        if (users.decrementAndGet() > 0) {
            return;
        }
        Runnable follows = whenFreed;
        if (follows != null) {
            follows.run();
            // To unmap all chunks takes long, and this may be a step of the writer or the end of a search.
            try {
                Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("roost-disk-codes-freed")
                        .start(arena::close);
            } catch (OutOfMemoryError noThread) {
                arena.close();
            }
        } else {
            arena.close();
        }
    }

    /** Gives the memory up, when others have taken the place of these codes; {@code freed} runs when the last reader has. */
    public void replaced(Runnable freed) {
        whenFreed = freed;
        close();
    }

    /** How well the codes stand for the rows. */
    public CodeErrors errors() {
        return errors;
    }

    /** Writer only. */
    public void setErrors(CodeErrors value) {
        errors = value;
    }

    /**
     * Gives a node its row and state of another table's codes, and a code.
     *
     * @param code null if the node keeps its code
     */
    public void take(ProductCodes from, int node, byte @Nullable [] code) {
        if (code == null) {
            setState(node, from.fullState(node));
        } else {
            put(node, from.id(node), code, from.fullState(node));
        }
    }

    /** A copy of a row block. */
    public byte[] copy(int number) {
        return block(number).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Gives the copy of a row block its header, to be written in a table of so many nodes. */
    public MemorySegment seal(byte[] copy, int number, int count) {
        MemorySegment block = MemorySegment.ofArray(copy);
        int rows = layout.rowsPerBlock();
        block.set(INT, DiskLayout.PAGE_COUNT, Math.min(rows, count - number * rows));
        Blocks.seal(block, number);
        return block;
    }
}
