package io.github.roost.index.disk.format;

import io.github.roost.io.BlockIo;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The layout of nodes in blocks. Two kinds of blocks hold nodes: pages, which searches read, with each node's vector and neighbors;
 * and row blocks, which are kept in memory, with each node's external id, state and code. Both are numbered from 0, and
 * {@link BlockMap} has their places in the file. Every block has a header: a checksum of the rest, its number, and its node count.
 *
 * @param dimension of the vectors
 * @param degree max neighbors of a node
 * @param codeBytes bytes of a code, one per part of a vector
 */
public record DiskLayout(int dimension, int degree, int codeBytes) {
    /** Little-endian on every machine; unaligned, as offsets are arbitrary. */
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    public static final int PAGE_BYTES = BlockIo.BLOCK_BYTES;
    public static final int SUPERBLOCKS = 2;
    static final int PAGE_CHECKSUM = 0;
    static final int PAGE_NUMBER = 4;
    static final int PAGE_COUNT = 8;
    public static final int PAGE_HEADER_BYTES = 16;
    /** As many as the one byte per part of a code can number. */
    public static final int CENTROIDS = 256;
    /** A row has its id, its state and its code. */
    private static final int ROW_STATE = Long.BYTES;

    private static final int ROW_CODE = ROW_STATE + 1;

    /** A node has its number, its external id, its vector, the number of its neighbors, and their numbers. */
    public int nodeBytes() {
        return Integer.BYTES + Long.BYTES + dimension * Float.BYTES + Integer.BYTES + degree * Integer.BYTES;
    }

    public int nodesPerPage() {
        return (PAGE_BYTES - PAGE_HEADER_BYTES) / nodeBytes();
    }

    /** Number of pages for {@code nodes} nodes. */
    public int pages(int nodes) {
        return Math.ceilDiv(nodes, nodesPerPage());
    }

    public int pageOf(int node) {
        return node / nodesPerPage();
    }

    public int firstNode(int page) {
        return page * nodesPerPage();
    }

    /** Offset of a node in its page. */
    public long offsetInPage(int node) {
        return PAGE_HEADER_BYTES + (long) (node % nodesPerPage()) * nodeBytes();
    }

    static long idOffset(long node) {
        return node + Integer.BYTES;
    }

    static long vectorOffset(long node) {
        return idOffset(node) + Long.BYTES;
    }

    public long neighborCountOffset(long node) {
        return vectorOffset(node) + (long) dimension * Float.BYTES;
    }

    long neighborOffset(long node, int index) {
        return neighborCountOffset(node) + Integer.BYTES + (long) index * Integer.BYTES;
    }

    public int rowBytes() {
        return ROW_CODE + codeBytes;
    }

    int rowsPerBlock() {
        return (PAGE_BYTES - PAGE_HEADER_BYTES) / rowBytes();
    }

    /** Number of row blocks for {@code nodes} nodes. */
    public int rowBlocks(int nodes) {
        return Math.ceilDiv(nodes, rowsPerBlock());
    }

    public int rowBlockOf(int node) {
        return node / rowsPerBlock();
    }

    /** Offset of a row in its block. */
    long rowOffset(int node) {
        return PAGE_HEADER_BYTES + (long) (node % rowsPerBlock()) * rowBytes();
    }

    static long stateOffset(long row) {
        return row + ROW_STATE;
    }

    static long codeOffset(long row) {
        return row + ROW_CODE;
    }

    public int centroidBlocks() {
        return Math.ceilDiv(CENTROIDS * dimension * Float.BYTES, PAGE_BYTES);
    }

    /** First block available for pages, row blocks, maps, and centroids that are learned later: those of the build are before it. */
    public int firstFreeBlock() {
        return SUPERBLOCKS + centroidBlocks();
    }

    public long centroidOffset(int centroid, int component) {
        return ((long) centroid * dimension + component) * Float.BYTES;
    }

    /** Index of a part's first component: part lengths differ by at most one, the longer parts first. */
    public int partBegin(int part) {
        return part * (dimension / codeBytes) + Math.min(part, dimension % codeBytes);
    }
}
