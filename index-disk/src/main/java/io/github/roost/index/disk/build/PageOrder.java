package io.github.roost.index.disk.build;

import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Numbers the rows of a graph so that nodes of one page are neighbors of each other: a search that reads a page for one node then
 * often finds others there that it would have read next. Pages are filled one after another, in the order of a breadth-first search
 * from the entry: a page begins with a node, and takes the node to which most edges from its nodes lead, until it is full. This is the
 * greedy step of block shuffling in Starling (Wang et al., SIGMOD 2024), without the later exchanges between pages.
 *
 * <p>Used once, by one thread.
 */
final class PageOrder {
    private static final int NOT_PLACED = -1;

    private final IntFunction<int[]> neighbors;
    private final int perPage;
    private final int[] rows;
    private final int[] nodes;
    private int placed;

    /** Rows whose turn to begin a page will come, a queue: each row is in it at most once. */
    private final int[] queue;

    private final boolean[] queued;
    private int queueBegin;
    private int queueEnd;
    /** All rows before this one are placed. */
    private int firstUnplaced;

    /** Rows that the nodes of the page lead to, and by how many edges, by row; 0 except for these rows. */
    private final int[] edges;

    private int[] candidates = new int[64];
    private int candidateCount;

    /**
     * @param rows number of rows
     * @param perPage nodes per page
     * @param neighbors the rows that a row leads to
     */
    PageOrder(int rows, int perPage, IntFunction<int[]> neighbors) {
        this.neighbors = neighbors;
        this.perPage = perPage;
        this.rows = new int[rows];
        this.nodes = new int[rows];
        this.queue = new int[rows];
        this.queued = new boolean[rows];
        this.edges = new int[rows];
        Arrays.fill(nodes, NOT_PLACED);
    }

    /**
     * Numbers all rows.
     *
     * @param entry the row that searches begin with
     * @param afterRow called after each row
     */
    void fill(int entry, Runnable afterRow) {
        enqueue(entry);
        while (placed < rows.length) {
            place(seed());
            afterRow.run();
            while (placed < rows.length && placed % perPage != 0) {
                int best = best();
                place(best == NOT_PLACED ? seed() : best);
                afterRow.run();
            }
            endPage();
        }
    }

    /** The row that has a number. */
    int row(int node) {
        return rows[node];
    }

    /** The number of a row. */
    int node(int row) {
        return nodes[row];
    }

    private void enqueue(int row) {
        if (!queued[row]) {
            queued[row] = true;
            queue[queueEnd++] = row;
        }
    }

    /** The next row that is not placed: by the search if it reaches one. */
    private int seed() {
        while (queueBegin < queueEnd) {
            int row = queue[queueBegin++];
            if (nodes[row] == NOT_PLACED) {
                return row;
            }
        }
        while (nodes[firstUnplaced] != NOT_PLACED) {
            firstUnplaced++;
        }
        return firstUnplaced;
    }

    /** The row to which most edges from the page lead, the first of them; {@link #NOT_PLACED} if there is none. */
    private int best() {
        int best = NOT_PLACED;
        for (int i = 0; i < candidateCount; i++) {
            int row = candidates[i];
            if (nodes[row] == NOT_PLACED && (best == NOT_PLACED || edges[row] > edges[best])) {
                best = row;
            }
        }
        return best;
    }

    private void place(int row) {
        rows[placed] = row;
        nodes[row] = placed++;
        for (int neighbor : neighbors.apply(row)) {
            if (nodes[neighbor] != NOT_PLACED) {
                continue;
            }
            if (edges[neighbor]++ == 0) {
                if (candidateCount == candidates.length) {
                    candidates = Arrays.copyOf(candidates, 2 * candidateCount);
                }
                candidates[candidateCount++] = neighbor;
            }
        }
    }

    private void endPage() {
        for (int i = 0; i < candidateCount; i++) {
            edges[candidates[i]] = 0;
            enqueue(candidates[i]);
        }
        candidateCount = 0;
    }
}
