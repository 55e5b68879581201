package io.github.roost.index.disk;

import java.util.Arrays;

/**
 * Chooses a node's neighbours of candidates, nearest first: one that is nearer to a chosen one than to the node, by a factor, is left
 * out, with growing factors while there is room (Subramanya et al., "DiskANN", NeurIPS 2019, algorithm 2). Stops after any
 * number of distances and goes on there: what it has found out is in its fields, so the result is the same wherever it stopped.
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
    /** The candidate that is looked at, and the one that is compared with it, if it was chosen. */
    private int outer;

    private int inner = -1;

    /**
     * Begins.
     *
     * @param nodes candidates, nearest first
     * @param vectors theirs
     * @param distances squared, from the node
     * @param most to be chosen
     * @param alpha greatest factor of squared distances, at least 1
     */
    PruneSteps(int[] nodes, float[][] vectors, float[] distances, int most, float alpha) {
        this.nodes = nodes;
        this.vectors = vectors;
        this.distances = distances;
        this.occlusions = new float[nodes.length];
        this.alpha = alpha;
        this.result = new int[Math.min(most, nodes.length)];
    }

    /**
     * Begins with candidates in any order. Those that are as far are taken by their numbers, so that the choice does not depend on the order.
     *
     * @param nodes candidates
     * @param vectors theirs
     * @param distances squared, from the node
     * @param mostCandidates nearest that are looked at
     * @param most to be chosen
     * @param alpha greatest factor of squared distances, at least 1
     */
    static PruneSteps among(
            int[] nodes, float[][] vectors, float[] distances, int mostCandidates, int most, float alpha) {
        int[] order = nearestFirst(nodes, distances);
        int count = Math.min(order.length, mostCandidates);
        int[] sorted = new int[count];
        float[][] sortedVectors = new float[count][];
        float[] sortedDistances = new float[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = nodes[order[i]];
            sortedVectors[i] = vectors[order[i]];
            sortedDistances[i] = distances[order[i]];
        }
        return new PruneSteps(sorted, sortedVectors, sortedDistances, most, alpha);
    }

    /** Indexes; sorted as primitives, since a piece of an update has no time for comparators. */
    private static int[] nearestFirst(int[] nodes, float[] distances) {
        long[] keys = new long[nodes.length];
        for (int i = 0; i < keys.length; i++) {
            // Bits of floats that are not negative are in their order.
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
     * Goes on.
     *
     * @param mostDistances to compute before it stops, at least 1
     * @return whether there is more to do
     */
    boolean run(int mostDistances) {
        int left = mostDistances;
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
                    // Rows that are alike occlude each other whatever the factor.
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

    /** How many are chosen so far. */
    int size() {
        return size;
    }

    /** The chosen, in the order in which they were. */
    int[] result() {
        return Arrays.copyOf(result, size);
    }

    /** The chosen, and then the nearest of the others while there is room for them. */
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
