package io.github.roost.index.hnsw.walk;

/** When a graph is walked, and when a walk has to be done again. Stateless: what decides is passed in. */
public final class WalkPlan {
    /** How many times as wide a walk is done again that was too narrow. */
    public static final int WIDER = 16;
    /** How many more than it is to give a walk by codes looks for: it loses neighbours at the end of its list. */
    public static final int WIDER_BY_CODE = 4;

    /** Up to this many nodes for each unit of ef a graph is searched exactly. */
    private static final int EXACT_PER_EF = 4;
    /** Nodes that a walk expands on its way, besides those it is after. */
    private static final int ON_THE_WAY = 16;
    /** Of the neighbours of a node that a walk expands, the share that it has not come to before, at most. */
    private static final double NEW_NEIGHBORS = .75;
    /** How many times as many nodes as it is after a walk by estimates expands, at most. */
    private static final int SEEMING_NEAR = 8;
    /** Codes order nodes nearly as vectors do: the k nearest are among a quarter more by code, and these. */
    private static final int RERANKED_MORE = 8;
    /** Vectors of few components share their codes with many others, and cost little to compare: so many components. */
    private static final int RERANKED_COMPONENTS = 4_096;

    private WalkPlan() {}

    /**
     * Whether looking at all allowed nodes, which is exact, is no more work than a walk. A walk that finds ef nodes of
     * which one in so many is allowed expands that many times ef nodes, and looks at several neighbours of each.
     */
    public static boolean scanIsShorter(int nodes, int allowed, int ef) {
        double share = (double) allowed / nodes;
        return allowed * share <= EXACT_PER_EF * (double) ef;
    }

    /**
     * Whether the search visited more nodes than it would if allowed nodes were spread evenly: then they lie away from the
     * query. A search that finds ef nodes there comes in from one side, and misses more than others do. It is repeated with a
     * larger ef, until it visits fewer nodes or looking at all allowed nodes is no more work.
     *
     * @param computed distances of the walk
     * @param degree most neighbours of a node
     */
    public static boolean wentFar(long computed, int nodes, int allowed, int ef, int degree) {
        double expanded = ef * (double) nodes / allowed + ON_THE_WAY;
        return allowed < nodes && computed > expanded * NEW_NEIGHBORS * degree;
    }

    /**
     * As {@link #wentFar}, of a walk by estimates: it goes to the nodes alone that it expands, and to some that only seem near.
     *
     * @param expanded nodes of the walk
     */
    public static boolean expandedFar(long expanded, int nodes, int allowed, int ef) {
        double expected = ef * (double) nodes / allowed + ON_THE_WAY;
        return allowed < nodes && expanded > SEEMING_NEAR * expected;
    }

    /** The width of a walk that is done again. */
    public static int wider(int width, int nodes) {
        return (int) Math.min((long) WIDER * width, nodes);
    }

    /** How many of the nodes that a walk by codes finds are compared again by their vectors, for the k nearest. */
    public static int reranked(int k, int width, int dimension) {
        long most = Math.max((long) k + k / 4 + RERANKED_MORE, RERANKED_COMPONENTS / dimension);
        return (int) Math.min(width, most);
    }
}
