package io.github.roost.index.hnsw;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows of a table, equal ones taken together: a graph node stands for all rows with its vector. Were each a node of
 * its own, they would fill up each other's neighbour lists and cut themselves off from the rest of the graph. Immutable.
 */
final class DistinctRows {
    /** One vector a node. */
    private final float[][] vectors;
    /** External ids of each node's rows, ascending. */
    private final long[][] idsOf;

    private final int rows;

    private DistinctRows(float[][] vectors, long[][] idsOf, int rows) {
        this.vectors = vectors;
        this.idsOf = idsOf;
        this.rows = rows;
    }

    private record Values(float[] vector) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Values that && Arrays.equals(vector, that.vector);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(vector);
        }
    }

    /**
     * @param vectors in the space of the graph, where rows are equal that its distances cannot tell apart
     * @param betweenRows runs with every row
     */
    static DistinctRows of(long[] ids, float[][] vectors, Runnable betweenRows) {
        Map<Values, List<Integer>> groups = LinkedHashMap.newLinkedHashMap(vectors.length);
        for (int row = 0; row < vectors.length; row++) {
            betweenRows.run();
            groups.computeIfAbsent(new Values(vectors[row]), none -> new ArrayList<>(1))
                    .add(row);
        }
        float[][] distinct = new float[groups.size()][];
        long[][] idsOf = new long[groups.size()][];
        int node = 0;
        for (List<Integer> group : groups.values()) {
            betweenRows.run();
            distinct[node] = vectors[group.getFirst()];
            idsOf[node] = group.stream().mapToLong(row -> ids[row]).sorted().toArray();
            node++;
        }
        return new DistinctRows(distinct, idsOf, vectors.length);
    }

    /** Number of rows, equal ones counted each. */
    int rows() {
        return rows;
    }

    /** Number of nodes. */
    int nodes() {
        return vectors.length;
    }

    /** One vector a node. */
    float[][] vectors() {
        return vectors;
    }

    /** The external ids that a node stands for, ascending. */
    long[] ids(int node) {
        return idsOf[node];
    }
}
