package io.github.roost.index.hnsw;

/** Access traces of graph searches, for the simulator: no part of the table's public API. Stateless. */
public final class GraphVisits {
    private GraphVisits() {}

    /** As {@link HnswTable#visits}. */
    public static int[] of(HnswTable table, float[] query, int k, int ef) {
        return table.visits(query, k, ef);
    }
}
