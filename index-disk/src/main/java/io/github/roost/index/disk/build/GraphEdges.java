package io.github.roost.index.disk.build;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The edges of a built graph, with some more so that a search from the entry can reach every row: a build by several threads now and then
 * leaves a row that no edge leads to. Used by one thread.
 */
final class GraphEdges {
    private final IntFunction<int[]> built;
    private final int degree;
    /** Those that were changed, by row. */
    private final Map<Integer, int[]> changed = new HashMap<>();

    private final BitSet reached = new BitSet();
    private int[] queue = new int[64];

    /**
     * @param built the rows that a row leads to, nearest first, at most the degree
     * @param degree max rows that a row leads to
     */
    GraphEdges(IntFunction<int[]> built, int degree) {
        this.built = built;
        this.degree = degree;
    }

    /** The rows that a row leads to. */
    int[] of(int row) {
        int[] its = changed.get(row);
        return its == null ? built.apply(row) : its;
    }

    /**
     * Adds edges until all rows can be reached.
     *
     * @param entry where searches begin
     * @param rows all rows of the graph
     * @param afterRow called after each row that is reached
     */
    void reachAll(int entry, BitSet rows, Runnable afterRow) {
        reach(entry, afterRow);
        for (int row = rows.nextSetBit(0); row >= 0; row = rows.nextSetBit(row + 1)) {
            if (!reached.get(row)) {
                addEdge(nearReached(row, entry), row);
                reach(row, afterRow);
            }
        }
    }

    private void reach(int from, Runnable afterRow) {
        int size = 0;
        queue[size++] = from;
        reached.set(from);
        while (size > 0) {
            for (int next : of(queue[--size])) {
                if (!reached.get(next)) {
                    reached.set(next);
                    if (size == queue.length) {
                        queue = Arrays.copyOf(queue, 2 * size);
                    }
                    queue[size++] = next;
                }
            }
            afterRow.run();
        }
    }

    /** The nearest of a row's neighbors that can be reached; the entry if there is none. */
    private int nearReached(int row, int entry) {
        for (int neighbor : of(row)) {
            if (reached.get(neighbor)) {
                return neighbor;
            }
        }
        return entry;
    }

    private void addEdge(int from, int to) {
        int[] its = of(from);
        if (its.length < degree) {
            its = Arrays.copyOf(its, its.length + 1);
        } else {
            // What could be reached by this edge still can, by one more step.
            lead(to, its[its.length - 1]);
            its = its.clone();
        }
        its[its.length - 1] = to;
        changed.put(from, its);
    }

    /** Lets a row that no edge leads to yet lead to another one. */
    private void lead(int from, int to) {
        int[] its = of(from);
        if (Arrays.stream(its).anyMatch(neighbor -> neighbor == to)) {
            return;
        }
        its = Arrays.copyOf(its, Math.min(its.length + 1, degree));
        its[its.length - 1] = to;
        changed.put(from, its);
    }
}
