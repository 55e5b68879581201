package io.github.roost.index.remote.search;

/**
 * The cost model that decides whether the queries of a group share one scan of all rows of a partition, or search its graph one by one. Pure
 * functions. Only the ratio of the costs matters; {@code ./roost bench remote} prints both on the machine that it runs on.
 */
final class GroupScan {
    /** Maximum queries per scan: their state fits into a cache of half a megabyte. */
    static final int MAX_QUERIES = 256;

    /**
     * ROW and READ: to read a row, and each of its components, once for all queries. PAIR and COMPONENT: to compare a row, and each of its
     * components, with one query.
     */
    private static final double ROW_NANOS = 4;

    private static final double READ_NANOS = .06;
    private static final double PAIR_NANOS = 1;
    private static final double COMPONENT_NANOS = .034;
    /** Per query, for its result list and answer. */
    private static final double QUERY_NANOS = 1_500;
    /** Upper bound of the rows that a graph search compares, per unit of ef; a small partition has fewer rows than that. */
    private static final double COMPARED_PER_EF = 14;

    private static final double SEARCH_PAIR_NANOS = 60;
    private static final double SEARCH_COMPONENT_NANOS = .2;

    private GroupScan() {}

    /**
     * The size of a search.
     *
     * @param rows of the partition
     * @param dimension of the rows
     * @param ef of a graph search
     */
    record Shape(int rows, int dimension, int ef) {}

    /** Whether one scan for {@code queries} queries is at most as much work as a graph search for each. */
    static boolean isLessWork(int queries, Shape shape) {
        return nanos(queries, shape) <= queries * graphSearchNanos(shape);
    }

    /** Estimated time of a scan. */
    static long nanos(int queries, Shape shape) {
        double once = shape.rows() * (ROW_NANOS + READ_NANOS * shape.dimension());
        return (long) (once + queries * perQuery(shape));
    }

    private static double perQuery(Shape shape) {
        return QUERY_NANOS + shape.rows() * (PAIR_NANOS + COMPONENT_NANOS * shape.dimension());
    }

    /** Estimated time of a graph search. */
    static long graphSearchNanos(Shape shape) {
        double compared = Math.min(shape.rows(), COMPARED_PER_EF * shape.ef());
        return (long) (QUERY_NANOS + compared * (SEARCH_PAIR_NANOS + SEARCH_COMPONENT_NANOS * shape.dimension()));
    }

    /** Number of queries whose comparisons fit into some time, at least 1. */
    static int queriesIn(long nanos, Shape shape) {
        return (int) Math.clamp(nanos / perQuery(shape), 1, MAX_QUERIES);
    }
}
