package io.github.roost.index.hnsw.search;

/**
 * The graph searches and scans of an image, on one instruction set or in Java. Thread-safe; a scratch is used by one search at a
 * time. Every implementation sums distances in 16 fused lanes folded by halves and breaks ties by node number, so all of them find
 * the same nodes at bit-equal distances.
 *
 * <p>A search runs in pieces, so that the caller can check for expiry between two. The result does not depend on the size of the
 * pieces.
 */
public interface GraphSearcher {
    /** Rows compared together; budgets are multiples of it. */
    int TILE = 4;
    /** Max rows per piece. Bounds the time of a piece if rows are short and each costs the latency of memory, some 50 ns. */
    int MAX_PER_PIECE = 384;
    /**
     * Max bytes of rows per piece. They take some 25 us to read from memory and 5 us from a cache; the overhead of starting a piece
     * is a hundredth of that.
     */
    int BYTES_PER_PIECE = 192 << 10;
    /** A scan for several queries compares a query with a row this much faster than a search compares a row read from memory. */
    int PIECES_IN_ONE = 8;

    /** The destination of a query's values, from which a graph search or a scan reads them. */
    @FunctionalInterface
    interface Query {
        /** Writes the query: the first values of the array, as many as the image has dimensions. */
        void setQuery(float[] values);
    }

    /** The nodes that a search has found, nearest first. */
    interface Found {
        /** Number of found nodes. */
        int size();

        /** The node at rank {@code i}, from 0. */
        int node(int i);

        /** The distance of the node at rank {@code i}, in the scale of the image; under inner product the negated product. */
        float distance(int i);
    }

    /** The name of the instruction set, or {@code java}. */
    String name();

    /**
     * Runs one piece of a graph search, from the top layer down, in layer 0 with a list of the {@code width} nearest nodes found so
     * far (Malkov and Yashunin, algorithms 2 and 5). In an image without links, and after {@link SearchScratch#scan}, all allowed nodes are compared instead. When the search is
     * complete, its result is in the scratch. All arguments except the budget must be the same for each piece.
     *
     * @param scratch begun for this image; if the search is not run to its end, the scratch must be {@linkplain
     *     SearchScratch#abandon abandoned}
     * @param width HNSW's ef, from 1
     * @param maxReranked in a coded image, the number of nearest nodes by code to rerank and return, in the order of their exact
     *     distances; from 1 to {@code width}. Other images return all found nodes
     * @param allowed the nodes that may be found; the search also traverses other nodes
     * @param budget number of distances, or equivalent work, before returning: a positive multiple of
     *     {@link #TILE}. Exceeded by up to a quarter if a node has more new neighbors than are left
     * @return whether the search is complete
     * @throws DamagedImageException if the image was modified after it was written
     */
    boolean searchOn(GraphImage image, SearchScratch scratch, int width, int maxReranked, NodeSet allowed, int budget);

    /** Ends a running graph search early: further calls of {@link #searchOn} only complete the list of found nodes. */
    void endSearch(SearchScratch scratch);

    /**
     * Runs one piece of a scan, which compares the vector of every allowed node from {@code from} to {@code to} exclusive. Pieces are as
     * in {@link #searchOn}.
     *
     * @param scratch begun for this image
     * @param width number of nearest nodes to find, from 1
     * @return whether the scan is complete
     */
    boolean scanOn(GraphImage image, SearchScratch scratch, int width, NodeSet allowed, int from, int to, int budget);

    /**
     * Compares several queries with every allowed node from {@code from} to {@code to} exclusive, and keeps the nearest nodes of each.
     * Distances are bit-equal to {@link #scanOn}'s, with the same ties by node. Each row is read from memory once for all queries.
     *
     * @param scratch begun for this image
     * @return the number of nodes that the queries were compared with
     */
    int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, int from, int to);

    /**
     * Scans all nodes for several queries, in pieces.
     *
     * @param betweenPieces runs between two pieces; if it throws, the scan ends, and the scratch can be begun again
     * @return the number of nodes that the queries were compared with
     */
    default int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, Runnable betweenPieces) {
        int nodes = image.shape().nodes();
        int step = Math.max(TILE, budget(image.vectorBytes()) * PIECES_IN_ONE / scratch.queries());
        int compared = 0;
        for (long from = 0; from < nodes; from += step) {
            if (from > 0) {
                betweenPieces.run();
            }
            compared += scanTogether(image, scratch, allowed, (int) from, (int) Math.min(nodes, from + step));
        }
        return compared;
    }

    /** The budget of a piece that takes well under 50 us, whether the table is in a cache or not. */
    default int budget(long rowBytes) {
        long rows = Math.clamp(BYTES_PER_PIECE / rowBytes, TILE, MAX_PER_PIECE);
        return (int) (rows / TILE * TILE);
    }

    /**
     * Runs a whole graph search in pieces; see {@link #searchOn}.
     *
     * @param betweenPieces runs between two pieces; if it throws, the search ends, and the scratch can be begun again
     */
    default void search(
            GraphImage image,
            SearchScratch scratch,
            int width,
            int maxReranked,
            NodeSet allowed,
            Runnable betweenPieces) {
        int budget = budget(image.searchedBytes());
        boolean through = false;
        try {
            while (!searchOn(image, scratch, width, maxReranked, allowed, budget)) {
                betweenPieces.run();
            }
            through = true;
        } finally {
            if (!through) {
                // A visited mark left behind would hide its node from the next search.
                scratch.abandon();
            }
        }
    }

    /**
     * Runs a whole scan in pieces; see {@link #scanOn}.
     *
     * @param betweenPieces runs between two pieces; if it throws, the scan ends, and the scratch can be begun again
     */
    default void scan(
            GraphImage image,
            SearchScratch scratch,
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
