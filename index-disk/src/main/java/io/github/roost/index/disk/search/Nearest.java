package io.github.roost.index.disk.search;

/** The nearest nodes that one search has seen, nearest first, up to a max; each can be taken once. Not thread-safe. */
final class Nearest {
    private final int[] nodes;
    private final long[] ids;
    private final float[] distances;
    private final boolean[] taken;
    private int size;
    /** All nodes before this index are taken. */
    private int first;

    Nearest(int max) {
        nodes = new int[max];
        ids = new long[max];
        distances = new float[max];
        taken = new boolean[max];
    }

    int size() {
        return size;
    }

    int node(int index) {
        return nodes[index];
    }

    /** The id that it was added with. */
    long id(int index) {
        return ids[index];
    }

    float distance(int index) {
        return distances[index];
    }

    /** Adds a node that was not added before, unless it is full of nearer ones; ties go to the one added first. */
    void add(int node, long id, float distance) {
        if (size == nodes.length && !(distance < distances[size - 1])) {
            return;
        }
        int low = after(distance);
        int last = Math.min(size, nodes.length - 1);
        System.arraycopy(nodes, low, nodes, low + 1, last - low);
        System.arraycopy(ids, low, ids, low + 1, last - low);
        System.arraycopy(distances, low, distances, low + 1, last - low);
        System.arraycopy(taken, low, taken, low + 1, last - low);
        nodes[low] = node;
        ids[low] = id;
        distances[low] = distance;
        taken[low] = false;
        size = last + 1;
        first = Math.min(first, low);
    }

    /** The index after the last node that is at most so far. */
    private int after(float distance) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (distances[middle] <= distance) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Takes a node if it is there, at the distance that it was added with, and not taken yet; whether it was. */
    boolean take(int node, float distance) {
        for (int i = after(distance) - 1; i >= 0 && distances[i] == distance; i--) {
            if (nodes[i] == node) {
                boolean wasTaken = taken[i];
                taken[i] = true;
                return !wasTaken;
            }
        }
        return false;
    }

    /** Takes the nearest node that was not taken yet; -1 if there is none. */
    int take() {
        while (first < size && taken[first]) {
            first++;
        }
        if (first == size) {
            return -1;
        }
        taken[first] = true;
        return nodes[first];
    }
}
