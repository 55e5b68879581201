package io.github.roost.index.disk.update;

import java.util.Arrays;

/**
 * Chooses a node's neighbors among candidates, nearest first: a candidate that is nearer to a chosen neighbor than to the node, by
 * a factor, is left out; the factor grows while there is room (Subramanya et al., "DiskANN", NeurIPS 2019, algorithm 2). It can
 * stop after any number of distances and resume: all state is in its fields, so the result does not depend on the stops.
 * Not thread-safe.
 */
final class PruneSteps {
    private static final float FACTOR_STEP = 1.2f;
    private static final float CHOSEN = Float.MAX_VALUE;

    private final int[] nodes;
    private final float[][] vectors;
    private final float[] distances;
    private final float[] occlusions;
    private final float alpha;
    private final int[] result;
    private int size;
    private float factor = 1;
    /** The current candidate, and the one that is compared with it if it was chosen. */
    private int outer;

    private int inner = -1;

    /**
     * Starts a choice among sorted candidates.
     *
     * @param nodes candidates, nearest first
     * @param vectors vectors of the candidates
     * @param distances squared, from the node
     * @param max maximum number to choose
     * @param alpha max factor of squared distances, at least 1
     */
    PruneSteps(int[] nodes, float[][] vectors, float[] distances, int max, float alpha) {
        this.nodes = nodes;
        this.vectors = vectors;
        this.distances = distances;
        this.occlusions = new float[nodes.length];
        this.alpha = alpha;
        this.result = new int[Math.min(max, nodes.length)];
    }

    /**
     * Starts a choice among candidates in any order. Ties go by node number, so that the choice does not depend on the order.
     *
     * @param nodes candidates
     * @param vectors vectors of the candidates
     * @param distances squared, from the node
     * @param maxCandidates number of nearest candidates to consider
     * @param max maximum number to choose
     * @param alpha max factor of squared distances, at least 1
     */
    static PruneSteps among(
            int[] nodes, float[][] vectors, float[] distances, int maxCandidates, int max, float alpha) {
        int[] order = nearestFirst(nodes, distances);
        int count = Math.min(order.length, maxCandidates);
        int[] sorted = new int[count];
        float[][] sortedVectors = new float[count][];
        float[] sortedDistances = new float[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = nodes[order[i]];
            sortedVectors[i] = vectors[order[i]];
            sortedDistances[i] = distances[order[i]];
        }
        return new PruneSteps(sorted, sortedVectors, sortedDistances, max, alpha);
    }

    /** Indexes in order of distance; sorts primitives, as comparators are too slow for a piece of an update. */
    private static int[] nearestFirst(int[] nodes, float[] distances) {
        long[] keys = new long[nodes.length];
        for (int i = 0; i < keys.length; i++) {
            // The bits of non-negative floats have the order of the floats.
            keys[i] = (long) Float.floatToIntBits(distances[i]) << Integer.SIZE | i;
        }
        Arrays.sort(keys);
        int[] order = new int[keys.length];
        for (int i = 0; i < order.length; i++) {
            int index = (int) keys[i];
            int place = i;
            while (place > 0
                    && distances[order[place - 1]] == distances[index]
                    && nodes[order[place - 1]] > nodes[index]) {
                order[place] = order[place - 1];
                place--;
            }
            order[place] = index;
        }
        return order;
    }

    /**
     * Continues the choice.
     *
     * @param maxDistances max distances to compute in this call, at least 1
     * @return whether there is more to do
     */
    boolean run(int maxDistances) {
        int left = maxDistances;
        while (factor <= alpha && size < result.length) {
            if (inner < 0) {
                if (outer == nodes.length) {
                    outer = 0;
                    factor *= FACTOR_STEP;
                    continue;
                }
                if (occlusions[outer] > factor) {
                    outer++;
                    continue;
                }
                occlusions[outer] = CHOSEN;
                result[size++] = nodes[outer];
                inner = outer + 1;
            }
            while (inner < nodes.length) {
                if (occlusions[inner] <= alpha) {
                    if (left-- == 0) {
                        return true;
                    }
                    float between = PairDistance.SQUARED.between(vectors[outer], vectors[inner]);
                    // Equal vectors occlude each other at any factor.
                    float occlusion = between == 0 ? CHOSEN : distances[inner] / between;
                    occlusions[inner] = Math.max(occlusions[inner], Math.min(occlusion, CHOSEN));
                }
                inner++;
            }
            inner = -1;
            outer++;
        }
        return false;
    }

    /** Number of nodes chosen so far. */
    int size() {
        return size;
    }

    /** The chosen nodes, in the order of the choice. */
    int[] result() {
        return Arrays.copyOf(result, size);
    }

    /** The chosen nodes, then the nearest other candidates while there is room. */
    int[] filled() {
        int[] filled = Arrays.copyOf(result, result.length);
        int count = size;
        for (int i = 0; i < nodes.length && count < filled.length; i++) {
            if (!isChosen(i)) {
                filled[count++] = nodes[i];
            }
        }
        return filled;
    }

    private boolean isChosen(int candidate) {
        for (int i = 0; i < size; i++) {
            if (result[i] == nodes[candidate]) {
                return true;
            }
        }
        return false;
    }
}
