package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.BuildMemory;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.NeighborCodes;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Converts a graph of vectors to {@link GraphLayout#NEIGHBOR_CODES}, with the same nodes under the same numbers. All
 * steps are batch work on the workers of an orchestrator, which make the writes of one step visible to the next. During the
 * conversion both graphs and the rotated vectors are in memory; then the graph of vectors is freed. Stateless.
 */
public final class NeighborCoding {
    /** Nodes written per step of batch work. */
    private static final int RUN = 64;

    private NeighborCoding() {}

    /**
     * Makes a graph with neighbor codes.
     *
     * @param plain the graph of vectors; must not be used afterwards
     */
    public static GraphImage of(BuildWork work, GraphImage plain) {
        GraphImage coded = GraphImage.allocate(plain.shape().withNeighborCodes());
        int nodes = plain.shape().nodes();
        work.phase(1, 2L * nodes);
        int dimension = plain.shape().dimension();
        int length = NeighborCodes.length(dimension);
        try (BuildMemory memory = new BuildMemory()) {
            MemorySegment rotated = memory.allocate((long) nodes * length * Float.BYTES);
            work.run(nodes, RUN, (from, to) -> {
                int[] neighbors = new int[plain.shape().degree()];
                for (int node = from; node < to; node++) {
                    work.yieldToSearches();
                    // Allocated per node, so that the padding is zero.
                    float[] vector = new float[length];
                    plain.vector(node, vector);
                    coded.setVector(node, vector);
                    coded.copyLinksAndRows(plain, node, neighbors);
                    NeighborCodes.rotate(vector);
                    long at = (long) node * length * Float.BYTES;
                    MemorySegment.copy(vector, 0, rotated, ValueLayout.JAVA_FLOAT, at, length);
                }
            });
            coded.setFirstRow(nodes, plain.shape().rows());
            work.run(nodes, RUN, (from, to) -> {
                NeighborCodes.Writer writer = new NeighborCodes.Writer(coded, rotated);
                for (int node = from; node < to; node++) {
                    work.yieldToSearches();
                    writer.write(node);
                }
            });
        }
        DomainMemory.release(plain.memory());
        return coded;
    }
}
