package io.github.roost.index.disk;

/** How a filtered search goes about it: a pure function of what the filter allows. */
final class FilterPlan {
    /** To read a node costs a search about as much as to look at so many codes: some 20 us, of which a code takes some 20 ns. */
    private static final long CODES_PER_READ = 1_000;

    private FilterPlan() {}

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
