package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.DiskLayout.FLOAT;
import static io.github.roost.index.disk.DiskLayout.INT;
import static io.github.roost.index.disk.DiskLayout.LONG;
import static io.github.roost.index.disk.DiskLayout.PAGE_BYTES;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * What a table keeps in memory, outside the heap: the external id, the state and a code of the vector of each node, by product
 * quantisation (Jégou et al., IEEE TPAMI 33(1), 2011). A search makes a table of its query once, and a distance to a node is then
 * one addition per byte of its code.
 *
 * <p>One thread at a time writes, any number read. A node's code and id are written before an edge to it is published, and again only
 * when no edge has led to it for a whole pass over the graph: a search that still comes to it takes a wrong estimate of a
 * distance from it, and never an id, which it takes from the page. The state is one byte, and what a search reads is old or new.
 */
final class Codes {
    /** Row blocks of one allocation. */
    private static final int CHUNK_BLOCKS = 64;

    /** Never used, or again of use: no edge leads to it. */
    static final byte FREE = 0;
    /** May be found. */
    static final byte LIVE = 1;
    /** Deleted: edges lead to it and over it, and it is not found. */
    static final byte DEAD = 2;

    private final DiskLayout layout;
    private final MemorySegment centroids;
    private volatile MemorySegment[] chunks = new MemorySegment[0];
    private volatile int nodes;

    /** No nodes; centroids are given, or are written before the first code. */
    Codes(DiskLayout layout, MemorySegment centroids) {
        this.layout = layout;
        this.centroids = centroids;
    }

    DiskLayout layout() {
        return layout;
    }

    int nodes() {
        return nodes;
    }

    MemorySegment centroids() {
        return centroids;
    }

    /** Has room for so many nodes; new ones are free. */
    void grow(int count) {
        int chunk = Math.ceilDiv(layout.rowBlocks(count), CHUNK_BLOCKS);
        MemorySegment[] before = chunks;
        if (chunk > before.length) {
            MemorySegment[] after = Arrays.copyOf(before, chunk);
            for (int i = before.length; i < chunk; i++) {
                after[i] = Arena.ofAuto().allocate((long) CHUNK_BLOCKS * PAGE_BYTES, PAGE_BYTES);
            }
            chunks = after;
        }
        nodes = count;
    }

    /** Memory outside the heap. */
    long bytes() {
        return centroids.byteSize() + (long) chunks.length * CHUNK_BLOCKS * PAGE_BYTES;
    }

    /** A row block, as it is in the file but for its header. */
    MemorySegment block(int number) {
        return chunks[number / CHUNK_BLOCKS].asSlice((long) (number % CHUNK_BLOCKS) * PAGE_BYTES, PAGE_BYTES);
    }

    private static long offset(int block) {
        return (long) (block % CHUNK_BLOCKS) * PAGE_BYTES;
    }

    long id(int node) {
        int block = layout.rowBlockOf(node);
        return chunks[block / CHUNK_BLOCKS].get(LONG, offset(block) + layout.rowOffset(node));
    }

    byte state(int node) {
        int block = layout.rowBlockOf(node);
        return chunks[block / CHUNK_BLOCKS].get(
                ValueLayout.JAVA_BYTE, offset(block) + DiskLayout.stateOffset(layout.rowOffset(node)));
    }

    void setState(int node, byte state) {
        block(layout.rowBlockOf(node))
                .set(ValueLayout.JAVA_BYTE, DiskLayout.stateOffset(layout.rowOffset(node)), state);
    }

    void put(int node, long id, byte[] code, byte state) {
        MemorySegment block = block(layout.rowBlockOf(node));
        long row = layout.rowOffset(node);
        block.set(LONG, row, id);
        MemorySegment.copy(code, 0, block, ValueLayout.JAVA_BYTE, DiskLayout.codeOffset(row), code.length);
        block.set(ValueLayout.JAVA_BYTE, DiskLayout.stateOffset(row), state);
    }

    /** Squared distances of the parts of a query to all centroids of these parts. */
    void distances(float[] query, float[] into) {
        distances(query, into, 0, layout.codeBytes());
    }

    /** The same of some parts. */
    void distances(float[] query, float[] into, int from, int to) {
        for (int part = from; part < to; part++) {
            int begin = layout.partBegin(part);
            int end = layout.partBegin(part + 1);
            for (int centroid = 0; centroid < CENTROIDS; centroid++) {
                float sum = 0;
                for (int i = begin; i < end; i++) {
                    float difference = query[i] - centroids.get(FLOAT, layout.centroidOffset(centroid, i));
                    sum += difference * difference;
                }
                into[part * CENTROIDS + centroid] = sum;
            }
        }
    }

    /** Squared distance of a query to a node's code, of what {@link #distances} has made. */
    float distance(float[] distances, int node) {
        int block = layout.rowBlockOf(node);
        MemorySegment chunk = chunks[block / CHUNK_BLOCKS];
        long at = offset(block) + DiskLayout.codeOffset(layout.rowOffset(node));
        float sum = 0;
        for (int part = 0; part < layout.codeBytes(); part++) {
            sum += distances[part * CENTROIDS + (chunk.get(ValueLayout.JAVA_BYTE, at + part) & 0xff)];
        }
        return sum;
    }

    /** The vector that a node's code stands for. */
    void decode(int node, float[] into) {
        MemorySegment block = block(layout.rowBlockOf(node));
        long at = DiskLayout.codeOffset(layout.rowOffset(node));
        for (int part = 0; part < layout.codeBytes(); part++) {
            int centroid = block.get(ValueLayout.JAVA_BYTE, at + part) & 0xff;
            int begin = layout.partBegin(part);
            MemorySegment.copy(
                    centroids,
                    FLOAT,
                    layout.centroidOffset(centroid, begin),
                    into,
                    begin,
                    layout.partBegin(part + 1) - begin);
        }
    }

    /** The code of a vector: of each part the nearest centroid, by what {@link #distances} has made of it. */
    byte[] encode(float[] distances) {
        byte[] code = new byte[layout.codeBytes()];
        for (int part = 0; part < code.length; part++) {
            int nearest = 0;
            for (int centroid = 1; centroid < CENTROIDS; centroid++) {
                if (distances[part * CENTROIDS + centroid] < distances[part * CENTROIDS + nearest]) {
                    nearest = centroid;
                }
            }
            code[part] = (byte) nearest;
        }
        return code;
    }

    /** How many nodes of a row block there are. */
    int rowsIn(int block) {
        return Math.min(layout.rowsPerBlock(), nodes - block * layout.rowsPerBlock());
    }

    /** A row block as it is written. */
    byte[] sealed(int number) {
        byte[] copy = block(number).toArray(ValueLayout.JAVA_BYTE);
        MemorySegment block = MemorySegment.ofArray(copy);
        block.set(INT, DiskLayout.PAGE_COUNT, rowsIn(number));
        Blocks.seal(block, number);
        return copy;
    }
}
