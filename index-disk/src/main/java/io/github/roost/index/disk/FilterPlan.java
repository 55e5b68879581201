package io.github.roost.index.disk;

import java.util.function.IntPredicate;

/** How a filtered search goes about it: a pure function of what the filter allows. */
final class FilterPlan {
    /** To read a node costs a search about as much as to look at so many codes: some 20 us, of which a code takes some 20 ns. */
    private static final long CODES_PER_READ = 1_000;

    /** Nodes that are asked for an estimate: of a share of a tenth it is off by a tenth of that. */
    private static final int SAMPLE = 1_024;

    private FilterPlan() {}

    /** About how many nodes are allowed, of evenly spaced ones; exact for small tables. */
    static int allowed(int nodes, IntPredicate allows) {
        int asked = Math.min(nodes, SAMPLE);
        int allowed = 0;
        for (int i = 0; i < asked; i++) {
            allowed += allows.test((int) ((long) i * nodes / asked)) ? 1 : 0;
        }
        return asked == 0 ? 0 : (int) ((long) allowed * nodes / asked);
    }

    /**
     * Whether to look at the codes of all allowed nodes, and read the best, instead of walking: a walk reads in proportion to the
     * nodes that are there for each that is allowed.
     */
    static boolean scans(int allowed, int nodes, int width) {
        return (double) allowed * allowed <= (double) CODES_PER_READ * width * nodes;
    }

    /** How many nodes a walk must keep in sight to have so many allowed ones among them. */
    static int width(int width, int allowed, int nodes) {
        return (int) Math.max(1, Math.min(nodes, Math.ceil((double) width * nodes / Math.max(1, allowed))));
    }
}
