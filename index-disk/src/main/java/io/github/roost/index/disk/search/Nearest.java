package io.github.roost.index.disk.search;

import java.util.Arrays;

/**
 * The nearest nodes that one search has seen, nearest first, until so many of them count; each can be taken once. A node that does
 * not count, since its row may not be found, takes no place from others. Not thread-safe.
 */
final class Nearest {
    private static final int MIN_CAPACITY = 16;

    private final int max;
    private int[] nodes;
    private long[] ids;
    private float[] distances;
    private boolean[] taken;
    private boolean[] counts;
    private int size;
    /** Number of nodes that count; if it is the max, the last node counts. */
    private int counted;
    /** All nodes before this index are taken. */
    private int first;

    Nearest(int max) {
        this.max = max;
        // One more than are kept: a nearer node is inserted before the last one goes.
        int capacity = Math.max(max + 1, MIN_CAPACITY);
        nodes = new int[capacity];
        ids = new long[capacity];
        distances = new float[capacity];
        taken = new boolean[capacity];
        counts = new boolean[capacity];
    }

    int size() {
        return size;
    }

    int node(int index) {
        return nodes[index];
    }

    /** All nodes, nearest first. */
    int[] nodes() {
        return Arrays.copyOf(nodes, size);
    }

    /** The id that it was added with. */
    long id(int index) {
        return ids[index];
    }

    float distance(int index) {
        return distances[index];
    }

    /** Adds a node that counts, of a row: while a row is replaced, two nodes have its id, of which the nearer one stays. */
    void addRow(int node, long id, float distance) {
        if (isFar(distance)) {
            return;
        }
        int same = indexOf(id);
        if (same < 0 || distance < distances[same]) {
            if (same >= 0) {
                remove(same);
            }
            add(node, id, distance, true);
        }
    }

    private boolean isFar(float distance) {
        return counted == max && (size == 0 || !(distance < distances[size - 1]));
    }

    private int indexOf(long id) {
        for (int i = 0; i < size; i++) {
            if (ids[i] == id) {
                return i;
            }
        }
        return -1;
    }

    private void remove(int index) {
        remove(nodes, index);
        remove(ids, index);
        remove(distances, index);
        remove(taken, index);
        counted -= counts[index] ? 1 : 0;
        remove(counts, index);
        size--;
        first -= index < first ? 1 : 0;
    }

    /**
     * Adds a node that was not added before, and counts or not, unless it is full of nearer ones; ties go to the one added first. Returns whether it
     * was near enough.
     */
    boolean add(int node, long id, float distance, boolean isCounted) {
        if (isFar(distance)) {
            return false;
        }
        if (size == nodes.length) {
            grow();
        }
        int low = after(distance);
        insert(nodes, low);
        insert(ids, low);
        insert(distances, low);
        insert(taken, low);
        insert(counts, low);
        nodes[low] = node;
        ids[low] = id;
        distances[low] = distance;
        taken[low] = false;
        counts[low] = isCounted;
        size++;
        counted += isCounted ? 1 : 0;
        first = Math.min(first, low);
        if (counted > max) {
            size--;
            counted--;
        }
        // Those behind the last one that counts are too far.
        while (counted == max && size > 0 && !counts[size - 1]) {
            size--;
        }
        first = Math.min(first, size);
        return true;
    }

    /** Number of nodes that do not count. */
    int uncounted() {
        return size - counted;
    }

    @SuppressWarnings("SuspiciousSystemArraycopy") // any array
    private void insert(Object array, int at) {
        System.arraycopy(array, at, array, at + 1, size - at);
    }

    @SuppressWarnings("SuspiciousSystemArraycopy") // any array
    private void remove(Object array, int at) {
        System.arraycopy(array, at + 1, array, at, size - at - 1);
    }

    private void grow() {
        int capacity = 2 * nodes.length;
        nodes = Arrays.copyOf(nodes, capacity);
        ids = Arrays.copyOf(ids, capacity);
        distances = Arrays.copyOf(distances, capacity);
        taken = Arrays.copyOf(taken, capacity);
        counts = Arrays.copyOf(counts, capacity);
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
