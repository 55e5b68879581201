package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
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
    /** Ordinal of one row of each node. */
    private final int[] rowOf;
    /** External ids of each node's rows, ascending. */
    private final long[][] idsOf;

    private final int rows;

    private DistinctRows(int[] rowOf, long[][] idsOf, int rows) {
        this.rowOf = rowOf;
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

    static DistinctRows of(long[] ids, float[][] vectors) {
        Map<Values, List<Integer>> groups = LinkedHashMap.newLinkedHashMap(vectors.length);
        for (int row = 0; row < vectors.length; row++) {
            groups.computeIfAbsent(new Values(vectors[row]), none -> new ArrayList<>(1))
                    .add(row);
        }
        int[] rowOf = new int[groups.size()];
        long[][] idsOf = new long[groups.size()][];
        int node = 0;
        for (List<Integer> group : groups.values()) {
            rowOf[node] = group.getFirst();
            idsOf[node] = group.stream().mapToLong(row -> ids[row]).sorted().toArray();
            node++;
        }
        return new DistinctRows(rowOf, idsOf, vectors.length);
    }

    /** Number of rows, equal ones counted each. */
    int rows() {
        return rows;
    }

    /** One vector a node. */
    float[][] vectors(float[][] vectors) {
        return Arrays.stream(rowOf).mapToObj(row -> vectors[row]).toArray(float[][]::new);
    }

    /** The k nearest rows of nodes that are given nearest first, ties by id. */
    Neighbors expand(Neighbors nodes, int k) {
        int count = 0;
        for (long node : nodes.ids()) {
            count += idsOf[(int) node].length;
        }
        long[] ids = new long[count];
        float[] distances = new float[count];
        int at = 0;
        for (int i = 0; i < nodes.size(); i++) {
            for (long id : idsOf[(int) nodes.ids()[i]]) {
                ids[at] = id;
                distances[at++] = nodes.distances()[i];
            }
        }
        return Neighbors.merge(List.of(Neighbors.sorted(ids, distances)), k);
    }
}
