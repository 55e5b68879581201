package io.github.roost.index.disk;

import io.github.roost.core.io.BlockIo;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Where everything is in the file of a table. Blocks 0 and 1 are the superblocks; then pages of nodes, some whole nodes each; then
 * one section that is kept in memory: external ids, centroids and codes.
 *
 * @param dimension of the vectors
 * @param degree most neighbours of a node
 * @param nodes how many
 * @param codeBytes bytes of a code, one per part of a vector
 */
record DiskLayout(int dimension, int degree, int nodes, int codeBytes) {
    /** Little-endian whatever the machine is; nothing is aligned to more than its own size. */
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int PAGE_BYTES = BlockIo.BLOCK_BYTES;
    static final int SUPERBLOCKS = 2;
    /** Of a page: checksum of all behind it, number of the page, nodes in it. */
    static final int PAGE_CHECKSUM = 0;

    static final int PAGE_NUMBER = 4;
    static final int PAGE_COUNT = 8;
    static final int PAGE_HEADER_BYTES = 16;
    /** Codes have one byte per part. */
    static final int CENTROIDS = 256;

    /** Of a node: its number, its vector, the number of its neighbours, and these. */
    int nodeBytes() {
        return Integer.BYTES + dimension * Float.BYTES + Integer.BYTES + degree * Integer.BYTES;
    }

    int nodesPerPage() {
        return (PAGE_BYTES - PAGE_HEADER_BYTES) / nodeBytes();
    }

    int pages() {
        return (nodes + nodesPerPage() - 1) / nodesPerPage();
    }

    int pageOf(int node) {
        return node / nodesPerPage();
    }

    int nodesIn(int page) {
        return Math.min(nodesPerPage(), nodes - page * nodesPerPage());
    }

    /** Where a node is in its page. */
    long offsetInPage(int node) {
        return PAGE_HEADER_BYTES + (long) (node % nodesPerPage()) * nodeBytes();
    }

    long vectorOffset(long node) {
        return node + Integer.BYTES;
    }

    long neighborCountOffset(long node) {
        return vectorOffset(node) + (long) dimension * Float.BYTES;
    }

    long neighborOffset(long node, int index) {
        return neighborCountOffset(node) + Integer.BYTES + (long) index * Integer.BYTES;
    }

    /** Block of a page in the file. */
    long blockOf(int page) {
        return SUPERBLOCKS + (long) page;
    }

    /** First block of the section that is kept in memory. */
    long memoryBlock() {
        return blockOf(pages());
    }

    long idOffset(int node) {
        return (long) node * Long.BYTES;
    }

    long centroidOffset(int centroid, int component) {
        return idOffset(nodes) + ((long) centroid * dimension + component) * Float.BYTES;
    }

    long codeOffset(int node) {
        return centroidOffset(CENTROIDS, 0) + (long) node * codeBytes;
    }

    /** Bytes of the section that is kept in memory, whole blocks. */
    long memoryBytes() {
        return (codeOffset(nodes) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }

    /** Blocks of the whole file. */
    long blocks() {
        return memoryBlock() + memoryBytes() / PAGE_BYTES;
    }

    /** Components of a vector before a part of it: parts differ by one component at most, the longer ones first. */
    int partBegin(int part) {
        return part * (dimension / codeBytes) + Math.min(part, dimension % codeBytes);
    }
}
