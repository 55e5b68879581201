package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.format.DiskLayout.FLOAT;
import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.LONG;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_BYTES;

import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
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
 * Memory is freed only by {@link #close}, which is called when no thread reads or writes.
 */
public final class ProductCodes implements AutoCloseable {
    /** Row blocks of one allocation. */
    private static final int CHUNK_BLOCKS = 64;

    private static final VarHandle STATE = ValueLayout.JAVA_BYTE.varHandle();

    /** Unused or reusable: no edge of the graph leads to it, except while a row is inserted there; a search may still hold an earlier one. */
    public static final byte FREE = 0;
    /** A row that may be found. */
    public static final byte LIVE = 1;
    /** Deleted: searches follow its edges, but do not find it. */
    public static final byte DEAD = 2;

    private final DiskLayout layout;
    /** Of mapped memory, which goes back to the system as soon as the table is closed; that of malloc may not. */
    private final Arena arena = Arena.ofShared();

    private final MemorySegment centroids;
    /** {@link DiskLayout#partBegin} of each part and of the end; cached, as it takes two divisions and inner loops need it. */
    private final int[] partBegins;

    /** A copy of the centroids, made on first use, when all are present. */
    private volatile float @Nullable [] onHeap;

    private volatile MemorySegment[] chunks = new MemorySegment[0];
    private volatile int nodes;

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

    /** The nodes of the live rows, by external id. */
    public RowMap nodesById() {
        RowMap all = new RowMap(nodes());
        for (int node = 0; node < nodes(); node++) {
            if (state(node) == LIVE) {
                all.put(id(node), 0, node);
            }
        }
        return all;
    }

    public long id(int node) {
        int block = layout.rowBlockOf(node);
        return chunks[block / CHUNK_BLOCKS].get(LONG, offset(block) + layout.rowOffset(node));
    }

    public byte state(int node) {
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

    /** Fills the distance table of a query: squared distances of each of its parts to all centroids of the part. */
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

    /** Decodes a node's code; {@code code} is scratch memory. */
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

    /** The squared distance of a vector to a decoded code, without a distance table. */
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
    private void read(int node, byte[] code) {
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
        float[] copy = onHeap;
        if (copy == null) {
            copy = centroids.asSlice(0, layout.centroidOffset(CENTROIDS, 0)).toArray(FLOAT);
            onHeap = copy;
        }
        return copy;
    }

    /** Encodes some parts of a vector as their nearest centroids, by the table from {@link #distances}. */
    public void encode(float[] distances, byte[] code, int from, int to) {
        for (int part = from; part < to; part++) {
            int nearest = 0;
            for (int centroid = 1; centroid < CENTROIDS; centroid++) {
                if (distances[part * CENTROIDS + centroid] < distances[part * CENTROIDS + nearest]) {
                    nearest = centroid;
                }
            }
            code[part] = (byte) nearest;
        }
    }

    /** Number of nodes in a row block. */
    int rowsIn(int block) {
        return Math.min(layout.rowsPerBlock(), nodes - block * layout.rowsPerBlock());
    }

    @Override
    public void close() {
        arena.close();
    }

    /** A copy of a row block with its header, to be written. */
    public byte[] sealed(int number) {
        byte[] copy = block(number).toArray(ValueLayout.JAVA_BYTE);
        MemorySegment block = MemorySegment.ofArray(copy);
        block.set(INT, DiskLayout.PAGE_COUNT, rowsIn(number));
        Blocks.seal(block, number);
        return copy;
    }
}
