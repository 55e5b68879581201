package io.github.roost.index.hnsw.search;

/** Decides between graph search and scan, and whether a graph search must be repeated. Stateless: all inputs are arguments. */
public final class SearchPlan {
    /** Factor by which the width grows if a graph search is repeated. */
    public static final int WIDER = 16;

    /** Up to this many nodes per unit of ef are scanned exhaustively. */
    private static final int EXACT_PER_EF = 4;
    /**
     * With a filter that allows few, up to this many times more: the graph search compares a dozen nodes for each that it expands, and reads
     * them at random. With 100,000 rows of 384 dimensions, a tenth of them allowed, it takes four times as long as the scan.
     */
    private static final int MORE_IF_FILTERED = 3;
    /** Rows that a filter is asked about in the time of a comparison. */
    private static final int ASKED_PER_COMPARED = 8;
    /** The factor by which more nodes are looked for than are needed if a filter is asked about the found ones, since its share is an estimate. */
    private static final double MORE_TO_ASK = 1.25;
    /** Expected nodes that a graph search expands on the way to the ef nearest. */
    private static final int ON_THE_WAY = 16;
    /** A search that expands this many times the expected nodes went far. */
    private static final int FAR = 2;
    /** A search that keeps at least this many times the nodes that it must rerank is wide. */
    private static final int UNSURE = 4;
    /** Max neighbors of a node in a graph of the default size. */
    private static final int NEIGHBORS = 32;
    /** The k nearest by vector are expected among the k + k / 4 plus this many nearest by code. */
    private static final int RERANKED_MORE = 8;
    /** Min components to rerank in all: with few dimensions many vectors have equal codes, and a rerank is cheap. */
    private static final int RERANKED_COMPONENTS = 4_096;

    private SearchPlan() {}

    /**
     * Whether an exhaustive scan of the allowed nodes is no more work than a graph search. If one node in n is allowed, a graph search
     * expands n times ef nodes, and computes several distances for each.
     */
    public static boolean scanIsShorter(int nodes, int allowed, int ef) {
        double share = (double) allowed / nodes;
        return allowed * share <= perEf(share) * ef;
    }

    private static double perEf(double share) {
        return EXACT_PER_EF * (1 + MORE_IF_FILTERED * (1 - share));
    }

    /**
     * As {@link #scanIsShorter(int, int, int)}, where codes can be scanned instead: then vectors are only if they are so few that the time
     * hardly differs, since their scan is exact.
     */
    public static boolean scanOfFewIsShorter(int nodes, int allowed, int ef) {
        return scanIsShorter(nodes, allowed, allowed < nodes ? Math.ceilDiv(ef, 1 + MORE_IF_FILTERED) : ef);
    }

    /** As {@link #scanIsShorter(int, int, int)}, of a scan of codes, which have a quarter of the bytes of vectors. */
    public static boolean codeScanIsShorter(int nodes, int allowed, int ef) {
        return allowed < nodes && scanIsShorter(nodes, allowed, 2 * ef);
    }

    /**
     * As {@link #scanIsShorter(int, int, int)}, if a filter must be asked about every row before the scan.
     *
     * @param rows number of rows to ask about
     * @param share estimate of the share of them that the filter allows
     */
    public static boolean scanIsShorter(int nodes, int rows, double share, int ef) {
        double compared = share * rows + rows / (double) ASKED_PER_COMPARED;
        return compared * share * rows <= perEf(share) * ef * nodes;
    }

    /**
     * The number of nodes to look for so that a filter allows as many as needed of them.
     *
     * @param needed number of allowed nodes
     * @param share estimate of the share of nodes that the filter allows, over 0
     * @param max number of nodes
     */
    public static int unfiltered(int needed, double share, int max) {
        return (int) Math.min(max, Math.ceil(MORE_TO_ASK * needed / share));
    }

    /**
     * Whether the filter allows too few of the nodes that were found for it: fewer than k, or than half of those needed.
     *
     * @param allowed number of found nodes that the filter allows
     * @param needed number of allowed nodes that were looked for, at least k
     */
    public static boolean allowsTooFew(int allowed, int needed, int k) {
        return allowed < Math.max(k, needed / 2);
    }

    /**
     * Whether the search expanded many more nodes than it would if allowed nodes were spread evenly; then they are clustered far from the
     * query. A search reaches such a cluster from one side, and its recall is lower. It is repeated with a larger ef, until it expands
     * fewer nodes or an exhaustive scan of the allowed nodes is no more work. Expanded nodes are counted, and not distances: how many of
     * these an expansion takes differs from data to data, up to all neighbors of a node.
     *
     * @param expanded number of nodes that the search expanded
     */
    public static boolean wentFar(long expanded, int nodes, int allowed, int ef) {
        return allowed < nodes && expanded > FAR * (ef * (double) nodes / allowed + ON_THE_WAY);
    }

    /**
     * Whether a search over codes that do not tell near nodes from far ones must be repeated with a larger ef, since the nodes that it has not
     * found may be as near. One that keeps few nodes is not: it finds what its caller has asked for.
     *
     * @param found number of nodes that it found
     * @param limit number of nodes that are reranked at least
     */
    public static boolean mayHaveNearer(int found, int ef, int limit, int nodes) {
        return found == ef && ef >= UNSURE * limit && ef < nodes;
    }

    /** The width of a repeated graph search. */
    public static int wider(int width, int nodes) {
        return (int) Math.min((long) WIDER * width, nodes);
    }

    /**
     * The number of nodes that a search visits at most; without a filter, where nothing limits it, with one repetition.
     *
     * @param limit max number of distances that a search with a filter computes, or {@link Integer#MAX_VALUE} without a filter
     */
    public static long mostVisits(int width, int limit) {
        return limit == Integer.MAX_VALUE
                ? WIDER * ((long) width + ON_THE_WAY) * NEIGHBORS
                // A call may exceed its budget by a quarter and the neighbors of a node.
                : limit + limit / 4L + GraphImage.MAX_NEIGHBORS;
    }

    /** The number of nodes to rerank by their vectors after a search over codes, for the k nearest, if codes tell nodes apart. */
    public static int reranked(int k, int width, int dimension) {
        long max = Math.max((long) k + k / 4 + RERANKED_MORE, RERANKED_COMPONENTS / dimension);
        return (int) Math.min(width, max);
    }
}
