package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Neighbors;
import java.util.Arrays;

/**
 * The k nearest seen so far of each query of a group: one heap a query with the farthest on top, ties by id. The arrays
 * are laid out as the C kernel reads them: query q owns places q·k to (q + 1)·k. Not thread-safe.
 */
public final class TopK {
    final int queries;
    final int k;
    final float[] distances;
    final long[] ids;
    final int[] sizes;

    public TopK(int queries, int k) {
        this.queries = queries;
        this.k = k;
        this.distances = new float[Math.multiplyExact(queries, k)];
        this.ids = new long[distances.length];
        this.sizes = new int[queries];
    }

    /** Offers one neighbour to a query. A distance that is not a number is dropped. */
    void offer(int query, float distance, long id) {
        int base = query * k;
        int size = sizes[query];
        if (size < k) {
            if (!Float.isNaN(distance)) {
                siftUp(base, size, distance, id);
                sizes[query]++;
            }
        } else if (farther(distances[base], ids[base], distance, id)) {
            siftDown(base, distance, id);
        }
    }

    private void siftUp(int base, int last, float distance, long id) {
        int at = last;
        while (at > 0) {
            int parent = (at - 1) / 2;
            if (!farther(distance, id, distances[base + parent], ids[base + parent])) {
                break;
            }
            set(base + at, distances[base + parent], ids[base + parent]);
            at = parent;
        }
        set(base + at, distance, id);
    }

    private void siftDown(int base, float distance, long id) {
        int at = 0;
        for (int child = 1; child < k; child = 2 * at + 1) {
            if (child + 1 < k
                    && farther(
                            distances[base + child + 1],
                            ids[base + child + 1],
                            distances[base + child],
                            ids[base + child])) {
                child++;
            }
            if (!farther(distances[base + child], ids[base + child], distance, id)) {
                break;
            }
            set(base + at, distances[base + child], ids[base + child]);
            at = child;
        }
        set(base + at, distance, id);
    }

    private void set(int index, float distance, long id) {
        distances[index] = distance;
        ids[index] = id;
    }

    private static boolean farther(float distance, long id, float otherDistance, long otherId) {
        return distance > otherDistance || (distance == otherDistance && id > otherId);
    }

    /** What a query has found, nearest first. */
    public Neighbors neighbors(int query) {
        int base = query * k;
        return Neighbors.sorted(
                Arrays.copyOfRange(ids, base, base + sizes[query]),
                Arrays.copyOfRange(distances, base, base + sizes[query]));
    }

    /** The id of the nearest that a query has found, when k is 1. */
    public long nearest(int query) {
        return ids[query * k];
    }

    /** The distance of the nearest that a query has found, when k is 1. */
    public float nearestDistance(int query) {
        return distances[query * k];
    }
}
