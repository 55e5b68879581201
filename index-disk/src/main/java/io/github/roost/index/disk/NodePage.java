package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.FLOAT;
import static io.github.roost.index.disk.DiskLayout.INT;
import static io.github.roost.index.disk.DiskLayout.PAGE_BYTES;
import static io.github.roost.index.disk.DiskLayout.PAGE_CHECKSUM;
import static io.github.roost.index.disk.DiskLayout.PAGE_COUNT;
import static io.github.roost.index.disk.DiskLayout.PAGE_NUMBER;

import java.lang.foreign.MemorySegment;

/** A page of nodes in memory: their vectors and neighbours, behind a checksum. Not thread-safe; made for each page. */
record NodePage(DiskLayout layout, int number, MemorySegment memory) {
    /** Empties it, to be filled by {@link #put}. */
    void clear() {
        memory.fill((byte) 0);
        memory.set(INT, PAGE_NUMBER, number);
        memory.set(INT, PAGE_COUNT, layout.nodesIn(number));
    }

    void put(int node, float[] vector, int[] neighbors) {
        long at = layout.offsetInPage(node);
        memory.set(INT, at, node);
        MemorySegment.copy(vector, 0, memory, FLOAT, layout.vectorOffset(at), vector.length);
        memory.set(INT, layout.neighborCountOffset(at), neighbors.length);
        MemorySegment.copy(neighbors, 0, memory, INT, layout.neighborOffset(at, 0), neighbors.length);
    }

    void seal() {
        memory.set(INT, PAGE_CHECKSUM, checksum());
    }

    /** Whether it is what was written under its number: neither damaged nor another page. */
    boolean isWhole() {
        return memory.get(INT, PAGE_CHECKSUM) == checksum()
                && memory.get(INT, PAGE_NUMBER) == number
                && memory.get(INT, PAGE_COUNT) == layout.nodesIn(number);
    }

    private int checksum() {
        return Superblock.checksum(memory.asSlice(PAGE_NUMBER, PAGE_BYTES - PAGE_NUMBER));
    }

    /** Whether a node of it refers to nodes that there are. */
    boolean isSound(int node) {
        long at = layout.offsetInPage(node);
        int count = neighborCount(node);
        boolean sound = memory.get(INT, at) == node && count >= 0 && count <= layout.degree();
        for (int i = 0; sound && i < count; i++) {
            int neighbor = neighbor(node, i);
            sound = neighbor >= 0 && neighbor < layout.nodes();
        }
        return sound;
    }

    void vector(int node, float[] into) {
        long at = layout.vectorOffset(layout.offsetInPage(node));
        MemorySegment.copy(memory, FLOAT, at, into, 0, into.length);
    }

    int neighborCount(int node) {
        return memory.get(INT, layout.neighborCountOffset(layout.offsetInPage(node)));
    }

    int neighbor(int node, int index) {
        return memory.get(INT, layout.neighborOffset(layout.offsetInPage(node), index));
    }
}
