package io.github.roost.vector.math;

import io.github.roost.vector.Metric;

/**
 * Decides how many lists or partitions a search visits, nearest first, in an index that assigns each row to the nearest of its centroids. Pure
 * functions.
 */
public final class ListsToVisit {
    /** The number of rows for which a build measures its default. */
    public static final int MEASURED_ROWS = 10;

    /** Dimensions within which rows vary, a low guess: with fewer, the number of lists grows faster. */
    private static final double DIMENSIONS = 10;
    /** Lists visited per list of rows that are wanted: around a query whose rows are in clusters, the next nearest are in many lists. */
    private static final double LISTS_PER_FULL_LIST = 2.5;

    private static final int MAX_GROWTH = 4;
    /** Bound of the rounding error of squared distances, as a share of their size. */
    public static final double ROUNDING = 1e-5;

    private ListsToVisit() {}

    /**
     * Returns the number that keeps the recall of searches for more rows. The ball around a query that has its k nearest rows grows by a root of
     * k, and meets as many cells of the centroids as a power of its radius says; besides, the lists must have as many rows as are wanted.
     *
     * @param measured number of lists for 10 rows, at least 1
     * @param k number of rows of the search, at least 1
     * @param rows number of rows of the table, at least 0
     * @param lists number of lists of the table, at least 1
     * @return {@code measured} up to 10 rows, then more; at most {@code lists}
     */
    public static int forRows(int measured, int k, long rows, int lists) {
        if (k <= MEASURED_ROWS) {
            return Math.min(measured, lists);
        }
        double reach = Math.pow(measured, 1 / DIMENSIONS) - 1;
        double met = Math.pow(1 + reach * Math.pow((double) k / MEASURED_ROWS, 1 / DIMENSIONS), DIMENSIONS);
        double filled = LISTS_PER_FULL_LIST * (k - MEASURED_ROWS) * lists / Math.max(1, rows);
        return (int) Math.min(lists, Math.ceil(met + filled));
    }

    /**
     * Whether no row of a list can be within a distance of a query. Rows are nearer to the list's centroid than to the one that is nearest to the
     * query, so they lie beyond the plane halfway between the two. All distances are squared.
     *
     * @param distance from the query to the list's centroid
     * @param least from the query to the nearest centroid
     * @param between from one of these centroids to the other
     * @param radius maximum distance of rows from the query
     * @return false too if a distance is not finite
     */
    public static boolean isBeyond(double distance, double least, double between, double radius) {
        double ahead = distance - least - ROUNDING * (distance + least + Math.abs(radius));
        return ahead > 0 && ahead * ahead > 4 * between * radius && ahead < Double.POSITIVE_INFINITY;
    }

    /**
     * Returns a radius as a squared distance in the space of centroids, a little larger for cosine, because of rounding.
     *
     * @param metric squared L2, or cosine of rows of length 1
     * @param radius maximum distance by the metric
     * @return maximum squared distance
     */
    public static double squared(Metric metric, float radius) {
        return metric == Metric.COSINE ? 2 * (radius + ROUNDING) : radius;
    }

    /**
     * Returns the number for a search that has found too few rows in the lists visited so far: enough if further lists have as many rows for it
     * as these, but between twice and four times as many.
     *
     * @param visited number of lists visited so far, at least 1
     * @param found number of rows found in them, less than {@code k}
     * @param k number of rows of the search
     * @return more than {@code visited}, maybe more than there are
     */
    public static int next(int visited, int found, int k) {
        long growth = Math.clamp(Math.ceilDiv((long) k, Math.max(1, found)), 2, MAX_GROWTH);
        return (int) Math.min(Integer.MAX_VALUE, growth * visited);
    }
}
