package io.github.roost.index.disk.search;

import java.util.function.IntPredicate;

/** Decides how a filtered search runs; a pure function of the nodes that the filter allows. */
public final class FilterPlan {
    /** Codes compared in the time of reading a node: some 20 us, at some 20 ns per code. */
    private static final long CODES_PER_READ = 1_000;

    /** Nodes tested for an estimate: a share of a tenth is estimated to within a tenth of itself. */
    private static final int SAMPLE = 1_024;

    private static final int MAX_REFUSED = 4_096;

    private FilterPlan() {}

    /** The estimated number of allowed nodes, from evenly spaced ones; exact for small tables. */
    static int allowed(int nodes, IntPredicate allows) {
        int sampled = Math.min(nodes, SAMPLE);
        int allowed = 0;
        for (int i = 0; i < sampled; i++) {
            allowed += allows.test((int) ((long) i * nodes / sampled)) ? 1 : 0;
        }
        return sampled == 0 ? 0 : (int) ((long) allowed * nodes / sampled);
    }

    /**
     * Whether to compare the codes of all allowed nodes, and read the best, instead of a graph search, which
     * reads on average nodes / allowed nodes per allowed node.
     */
    public static boolean scans(int allowed, int nodes, int width) {
        return (double) allowed * allowed <= (double) CODES_PER_READ * width * nodes;
    }

    /**
     * Whether a graph search has met so many nodes whose rows may not be found that the codes of all nodes are compared instead: they
     * crowd out the others where the query is, however few they are among all.
     *
     * @param expanded such nodes that it has read
     * @param kept such nodes that it keeps, each of which makes the next one dearer
     */
    static boolean isCrowdedOut(int expanded, int kept, int nodes, int width) {
        return expanded > width + nodes / CODES_PER_READ || kept > MAX_REFUSED + 4L * width;
    }
}
