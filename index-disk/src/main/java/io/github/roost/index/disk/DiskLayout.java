package io.github.roost.index.disk;

import io.github.roost.core.io.BlockIo;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * How nodes lie in blocks. Two kinds of blocks hold nodes: pages, which searches read, with each node's vector and neighbours; and row
 * blocks, which are kept in memory, with each node's external id, state and code. Both are numbered from 0, and lie wherever the
 * {@link BlockMap} says. Every block has a header: a checksum of all behind it, its number, and how many nodes it has.
 *
 * @param dimension of the vectors
 * @param degree most neighbours of a node
 * @param codeBytes bytes of a code, one per part of a vector
 */
record DiskLayout(int dimension, int degree, int codeBytes) {
    /** Little-endian whatever the machine is; nothing is aligned to more than its own size. */
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int PAGE_BYTES = BlockIo.BLOCK_BYTES;
    static final int SUPERBLOCKS = 2;
    static final int PAGE_CHECKSUM = 0;
    static final int PAGE_NUMBER = 4;
    static final int PAGE_COUNT = 8;
    static final int PAGE_HEADER_BYTES = 16;
    /** Codes have one byte per part. */
    static final int CENTROIDS = 256;
    /** Of a row: its id, its state and its code. */
    private static final int ROW_STATE = Long.BYTES;

    private static final int ROW_CODE = ROW_STATE + 1;

    /** Of a node: its number, its external id, its vector, the number of its neighbours, and these. */
    int nodeBytes() {
        return Integer.BYTES + Long.BYTES + dimension * Float.BYTES + Integer.BYTES + degree * Integer.BYTES;
    }

    int nodesPerPage() {
        return (PAGE_BYTES - PAGE_HEADER_BYTES) / nodeBytes();
    }

    /** Pages of so many nodes. */
    int pages(int nodes) {
        return Math.ceilDiv(nodes, nodesPerPage());
    }

    int pageOf(int node) {
        return node / nodesPerPage();
    }

    int firstNode(int page) {
        return page * nodesPerPage();
    }

    /** Where a node is in its page. */
    long offsetInPage(int node) {
        return PAGE_HEADER_BYTES + (long) (node % nodesPerPage()) * nodeBytes();
    }

    static long idOffset(long node) {
        return node + Integer.BYTES;
    }

    static long vectorOffset(long node) {
        return idOffset(node) + Long.BYTES;
    }

    long neighborCountOffset(long node) {
        return vectorOffset(node) + (long) dimension * Float.BYTES;
    }

    long neighborOffset(long node, int index) {
        return neighborCountOffset(node) + Integer.BYTES + (long) index * Integer.BYTES;
    }

    int rowBytes() {
        return ROW_CODE + codeBytes;
    }

    int rowsPerBlock() {
        return (PAGE_BYTES - PAGE_HEADER_BYTES) / rowBytes();
    }

    /** Row blocks of so many nodes. */
    int rowBlocks(int nodes) {
        return Math.ceilDiv(nodes, rowsPerBlock());
    }

    int rowBlockOf(int node) {
        return node / rowsPerBlock();
    }

    /** Where a row is in its block. */
    long rowOffset(int node) {
        return PAGE_HEADER_BYTES + (long) (node % rowsPerBlock()) * rowBytes();
    }

    static long stateOffset(long row) {
        return row + ROW_STATE;
    }

    static long codeOffset(long row) {
        return row + ROW_CODE;
    }

    /** First block of the centroids, which are never written again. */
    static long centroidBlock() {
        return SUPERBLOCKS;
    }

    int centroidBlocks() {
        return Math.ceilDiv(CENTROIDS * dimension * Float.BYTES, PAGE_BYTES);
    }

    /** First block that anything may be put in. */
    int firstFreeBlock() {
        return SUPERBLOCKS + centroidBlocks();
    }

    long centroidOffset(int centroid, int component) {
        return ((long) centroid * dimension + component) * Float.BYTES;
    }

    /** Components of a vector before a part of it: parts differ by one component at most, the longer ones first. */
    int partBegin(int part) {
        return part * (dimension / codeBytes) + Math.min(part, dimension % codeBytes);
    }
}
