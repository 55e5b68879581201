package io.github.roost.index.hnsw.walk;

/**
 * Searches a table's memory. Thread-safe; a scratch belongs to one search at a time. Every walk sums distances in 16 fused
 * lanes folded by halves and breaks ties by node, so all of them find the same nodes at bit-equal distances.
 *
 * <p>A search is made in pieces, so that between two it can be seen whether its result is still wanted. What it finds does
 * not depend on how it is cut.
 */
public interface GraphWalk {
    /** Rows that are measured together: budgets are multiples of it. */
    int TILE = 4;
    /** Where rows are short, what a piece costs is how long each takes to come from memory: some 50 ns. */
    int MAX_PER_PIECE = 384;
    /**
     * Where they are long, how many bytes: these take some 25 us from memory, and 5 from a cache, of which beginning a piece
     * takes a hundredth.
     */
    int BYTES_PER_PIECE = 192 << 10;
    /** Pairs of a scan for several queries are compared that much faster than rows that come from memory for one. */
    int PIECES_IN_ONE = 8;

    /** What it runs on: an instruction set's name, or {@code java}. */
    String name();

    /**
     * Goes on with a walk of the graph from the top layer down, in layer 0 with a list of the {@code width} nearest found so
     * far (Malkov and Yashunin, algorithms 2 and 5). What it finds is in the scratch once it is through. Arguments, but for
     * the budget, are the same from piece to piece.
     *
     * @param scratch begun for this image; one whose walk does not come to its end must be {@linkplain
     *     WalkScratch#abandon abandoned}
     * @param width from 1
     * @param mostReranked how many of the nearest by code are found in a coded image, in the order of their exact
     *     distances; from 1 to {@code width}. Other images give all
     * @param allowed which nodes may be found; others are walked through all the same
     * @param budget how many distances to compute, or do as much of something else, before returning: a multiple of
     *     {@link #TILE}, from {@link #TILE}; where a node has more new neighbours than are left, up to a quarter more
     * @return whether it is through
     * @throws DamagedImageException if it comes to what can only be a changed image
     */
    boolean walkOn(GraphImage image, WalkScratch scratch, int width, int mostReranked, NodeSet allowed, int budget);

    /** Has a walk that was begun go no further: what {@link #walkOn} then does is to list what has been found. */
    void endWalk(WalkScratch scratch);

    /**
     * Goes on looking at the vector of every allowed node from {@code from} to {@code to} exclusive; as
     * {@link #walkOn}.
     *
     * @param scratch begun for this image
     * @param width how many of the nearest to find, from 1
     * @return whether it is through
     */
    boolean scanOn(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to, int budget);

    /**
     * Compares several queries with every allowed node from {@code from} to {@code to} exclusive, and keeps the nearest of each: at
     * the distances of {@link #scanOn} to the bit, and ties by node as there. Each row is read from memory once for all queries.
     *
     * @param scratch begun for this image
     * @return how many nodes they were compared with
     */
    int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, int from, int to);

    /**
     * {@link #scanTogether} of all nodes, in pieces.
     *
     * @param betweenPieces runs between two; what it throws ends the scan, and the scratch can be begun again
     * @return how many nodes the queries were compared with
     */
    default int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, Runnable betweenPieces) {
        int nodes = image.shape().nodes();
        int step = Math.max(TILE, budget(image.vectorBytes()) * PIECES_IN_ONE / scratch.queries());
        int compared = 0;
        for (int from = 0; from < nodes; from += step) {
            if (from > 0) {
                betweenPieces.run();
            }
            compared += scanTogether(image, scratch, allowed, from, Math.min(nodes, from + step));
        }
        return compared;
    }

    /** The budget of a piece that takes well under 50 us, whatever of the table is in a cache. */
    default int budget(long rowBytes) {
        long rows = Math.clamp(BYTES_PER_PIECE / rowBytes, TILE, MAX_PER_PIECE);
        return (int) (rows / TILE * TILE);
    }

    /**
     * A walk in pieces; as {@link #walkOn}.
     *
     * @param betweenPieces runs between two; what it throws ends the walk, and the scratch can be begun again
     */
    default void walk(
            GraphImage image,
            WalkScratch scratch,
            int width,
            int mostReranked,
            NodeSet allowed,
            Runnable betweenPieces) {
        int budget = budget(image.walkedBytes());
        boolean through = false;
        try {
            while (!walkOn(image, scratch, width, mostReranked, allowed, budget)) {
                betweenPieces.run();
            }
            through = true;
        } finally {
            if (!through) {
                // A mark that stays would hide its node from the next search.
                scratch.abandon();
            }
        }
    }

    /**
     * A scan in pieces; as {@link #scanOn}.
     *
     * @param betweenPieces runs between two; what it throws ends the scan, and the scratch can be begun again
     */
    default void scan(
            GraphImage image,
            WalkScratch scratch,
            int width,
            NodeSet allowed,
            int from,
            int to,
            Runnable betweenPieces) {
        int budget = budget(image.vectorBytes());
        while (!scanOn(image, scratch, width, allowed, from, to, budget)) {
            betweenPieces.run();
        }
    }
}
