package io.github.roost.index.disk.format;

import static io.github.roost.index.disk.format.DiskLayout.FLOAT;
import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.LONG;
import static io.github.roost.index.disk.format.DiskLayout.PAGE_BYTES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/** A page of nodes in memory: their vectors and neighbors, after a checksum. Not thread-safe; created per use. */
public record NodePage(DiskLayout layout, int number, MemorySegment memory) {
    /** A page without nodes, on the heap. */
    public static NodePage empty(DiskLayout layout, int number) {
        return new NodePage(layout, number, MemorySegment.ofArray(new byte[PAGE_BYTES]));
    }

    /** A copy to be changed, on the heap. */
    public NodePage copy() {
        return new NodePage(layout, number, MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE)));
    }

    public void put(int node, long id, float[] vector, int[] neighbors, int count) {
        long at = layout.offsetInPage(node);
        memory.set(INT, at, node);
        memory.set(LONG, DiskLayout.idOffset(at), id);
        MemorySegment.copy(vector, 0, memory, FLOAT, DiskLayout.vectorOffset(at), vector.length);
        setNeighbors(node, neighbors, count);
    }

    public void setNeighbors(int node, int[] neighbors, int count) {
        long at = layout.offsetInPage(node);
        memory.set(INT, layout.neighborCountOffset(at), count);
        MemorySegment.copy(neighbors, 0, memory, INT, layout.neighborOffset(at, 0), count);
    }

    public void seal() {
        Blocks.seal(memory, number);
    }

    /** Whether it is as it was written under its number: neither damaged nor another page. */
    public boolean isWhole() {
        return Blocks.isWhole(memory, number);
    }

    /** Whether a node is on the page and its neighbors are existing nodes. */
    public boolean isSound(int node, int nodes) {
        long at = layout.offsetInPage(node);
        int count = neighborCount(node);
        if (memory.get(INT, at) != node || count < 0 || count > layout.degree()) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            int neighbor = memory.get(INT, layout.neighborOffset(at, i));
            if (neighbor < 0 || neighbor >= nodes) {
                return false;
            }
        }
        return true;
    }

    /** Whether all nodes in use are sound. */
    public boolean isSound(ProductCodes codes) {
        return isSound(codes.used(number), codes.nodes());
    }

    /**
     * Whether some nodes are sound.
     *
     * @param used {@link ProductCodes#used} of the page
     */
    public boolean isSound(BitSet used, int nodes) {
        int first = layout.firstNode(number);
        return used.stream().allMatch(index -> isSound(first + index, nodes));
    }

    public long id(int node) {
        return memory.get(LONG, DiskLayout.idOffset(layout.offsetInPage(node)));
    }

    public void vector(int node, float[] into) {
        long at = DiskLayout.vectorOffset(layout.offsetInPage(node));
        MemorySegment.copy(memory, FLOAT, at, into, 0, into.length);
    }

    public int neighborCount(int node) {
        return memory.get(INT, layout.neighborCountOffset(layout.offsetInPage(node)));
    }

    public int[] neighbors(int node) {
        int[] all = new int[neighborCount(node)];
        MemorySegment.copy(memory, INT, layout.neighborOffset(layout.offsetInPage(node), 0), all, 0, all.length);
        return all;
    }
}
