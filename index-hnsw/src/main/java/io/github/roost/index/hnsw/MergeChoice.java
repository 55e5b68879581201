package io.github.roost.index.hnsw;

import java.util.ArrayList;
import java.util.List;

/**
 * Which parts of a live table are to be merged into one: a pure function of their sizes. All rows without a graph are, and
 * with them frozen parts, the newest first, that are not much larger than what is merged already; so every row is built
 * into a graph a number of times that grows with the logarithm of the table. Parts that are mostly dead are merged
 * whatever their size.
 */
final class MergeChoice {
    /** A part that has up to this many times the rows of what is merged already is merged too. */
    private static final int NOT_MUCH_LARGER = 3;
    /** A part of which at most one row in this many is alive is mostly dead. */
    private static final int MOSTLY_DEAD = 2;

    private MergeChoice() {}

    /**
     * A part, as far as the choice goes.
     *
     * @param frozen whether it has a graph
     * @param rows alive or not
     * @param alive of those
     */
    record Part(boolean frozen, int rows, int alive) {
        boolean isMostlyDead() {
            return frozen && (long) alive * MOSTLY_DEAD <= rows;
        }
    }

    /**
     * Makes the choice.
     *
     * @param parts older rows first; without that to which rows are still added
     * @return indices of the parts to merge, ascending; none if nothing is due
     */
    static List<Integer> of(List<Part> parts) {
        long merged = 0;
        boolean due = false;
        for (Part part : parts) {
            if (!part.frozen() || part.isMostlyDead()) {
                merged += part.alive();
                due = true;
            }
        }
        List<Integer> chosen = new ArrayList<>();
        for (int i = parts.size() - 1; due && i >= 0; i--) {
            Part part = parts.get(i);
            if (!part.frozen() || part.isMostlyDead()) {
                chosen.addFirst(i);
            } else if (part.alive() <= NOT_MUCH_LARGER * merged) {
                chosen.addFirst(i);
                merged += part.alive();
            }
        }
        return chosen;
    }
}
