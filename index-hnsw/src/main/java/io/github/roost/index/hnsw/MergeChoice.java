package io.github.roost.index.hnsw;

import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the parts of a live table to merge into one, as a pure function of their sizes. Chosen are all parts without a graph,
 * all parts that are mostly tombstones, and, from the newest to the oldest, parts with a graph that are not much larger than the parts
 * already chosen together. So the number of times that a row is built into a graph is logarithmic in the table's size.
 */
final class MergeChoice {
    /** A part with up to this many times the live rows already chosen is merged too. */
    private static final int NOT_MUCH_LARGER = 3;
    /** A part has many tombstones if at most one row in this many is alive. */
    private static final int ROWS_PER_ALIVE = 2;

    private MergeChoice() {}

    /**
     * The size of a part.
     *
     * @param hasGraph whether it has a graph
     * @param rows number of rows, deleted ones included
     * @param alive number of live rows
     */
    record Part(boolean hasGraph, int rows, int alive) {
        boolean hasManyTombstones() {
            return hasGraph && (long) alive * ROWS_PER_ALIVE <= rows;
        }
    }

    /**
     * Makes the choice.
     *
     * @param parts the parts that take no more rows, older rows first
     * @return indices of the parts to merge, ascending; empty if no merge is due
     */
    static List<Integer> of(List<Part> parts) {
        long merged = 0;
        boolean due = false;
        for (Part part : parts) {
            if (!part.hasGraph() || part.hasManyTombstones()) {
                merged += part.alive();
                due = true;
            }
        }
        List<Integer> chosen = new ArrayList<>();
        for (int i = parts.size() - 1; due && i >= 0; i--) {
            Part part = parts.get(i);
            if (!part.hasGraph() || part.hasManyTombstones()) {
                chosen.addFirst(i);
            } else if (part.alive() <= NOT_MUCH_LARGER * merged) {
                chosen.addFirst(i);
                merged += part.alive();
            }
        }
        return chosen;
    }
}
