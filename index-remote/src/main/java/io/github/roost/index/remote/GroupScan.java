package io.github.roost.index.remote;

/**
 * Whether the queries that wait for a partition are searched for by one scan of all its rows, or by a walk of its graph for each. Pure
 * functions. Only the ratio of their costs counts; {@code ./roost bench remote} prints what both take on the machine that it runs on.
 */
final class GroupScan {
    /** The most queries of one scan: what they take stays in a cache of half a megabyte. */
    static final int MAX_QUERIES = 256;

    /** Of reading a row's components for all queries, and of comparing them with one query. */
    private static final double ROW_NANOS = 4;

    private static final double READ_NANOS = .06;
    private static final double PAIR_NANOS = 1;
    private static final double COMPONENT_NANOS = .034;
    /** Of a query, for its list and its answer. */
    private static final double QUERY_NANOS = 1_500;
    /** Rows that a walk compares for each unit of its width, at most: where a partition is small it comes to all. */
    private static final double COMPARED_PER_EF = 14;

    private static final double WALK_PAIR_NANOS = 60;
    private static final double WALK_COMPONENT_NANOS = .2;

    private GroupScan() {}

    /**
     * What is searched.
     *
     * @param rows of the partition
     * @param dimension of them
     * @param ef width of a walk
     */
    record Shape(int rows, int dimension, int ef) {}

    /** Whether one scan for so many queries is less work than as many walks. */
    static boolean isLessWork(int queries, Shape shape) {
        return nanos(queries, shape) <= queries * walkNanos(shape);
    }

    /** About what a scan takes. */
    static long nanos(int queries, Shape shape) {
        double once = shape.rows() * (ROW_NANOS + READ_NANOS * shape.dimension());
        return (long) (once + queries * perQuery(shape));
    }

    private static double perQuery(Shape shape) {
        return QUERY_NANOS + shape.rows() * (PAIR_NANOS + COMPONENT_NANOS * shape.dimension());
    }

    /** About what a walk takes. */
    static long walkNanos(Shape shape) {
        double compared = Math.min(shape.rows(), COMPARED_PER_EF * shape.ef());
        return (long) (QUERY_NANOS + compared * (WALK_PAIR_NANOS + WALK_COMPONENT_NANOS * shape.dimension()));
    }

    /** How many queries are scanned for in some time, at least 1. */
    static int queriesIn(long nanos, Shape shape) {
        return (int) Math.clamp(nanos / perQuery(shape), 1, MAX_QUERIES);
    }
}
