package io.github.roost.index.hnsw;

import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.KMeans;
import io.github.roost.vector.spi.BuildWork;

/**
 * Routes the queries of a large table to one of several mapping ids, its regions, by the nearest of a few coarse centroids. Searches
 * of one region read mostly the same part of the graph, so each region's home keeps that part in its cache; with queries divided
 * at random, every home would need the whole graph. Regions are placed, given several homes and moved by their measured traffic,
 * as tables are. The region decides only where a search runs, never its result. Immutable.
 */
final class RegionRouter {
    /** Max regions of a table: several per domain of the largest machines, and few enough that finding the nearest is cheap. */
    static final int MAX_REGIONS = 64;

    private static final int ROWS_PER_STEP = 64;

    /** One region for all queries. */
    static final RegionRouter ONE = new RegionRouter(new float[1][0], false);

    private final float[][] centroids;
    /** Whether the centroids have length 1 and the nearest is the one in whose direction a query points. */
    private final boolean byDirection;

    private RegionRouter(float[][] centroids, boolean byDirection) {
        this.centroids = centroids;
        this.byDirection = byDirection;
    }

    /**
     * The number of regions for a table.
     *
     * @param bytes bytes of its graph
     * @param cacheBytes cache of one cache domain; 0 or less if unknown
     * @param domains number of cache domains of the machine
     * @return 1 if the table fits in one cache, the cache size is unknown, or there is one domain; else enough that two regions fit in
     *     one cache, at most {@value #MAX_REGIONS}
     */
    static int regionsFor(long bytes, long cacheBytes, int domains) {
        if (domains == 1 || cacheBytes <= 0 || bytes <= cacheBytes) {
            return 1;
        }
        return (int) Math.min(MAX_REGIONS, Math.ceilDiv(bytes, Math.max(1, cacheBytes / 2)));
    }

    /**
     * Finds the regions of a table by {@link KMeans}.
     *
     * @param work runs the k-means
     * @param sample a sample of its rows, all of one dimension, in random order
     * @param regions max number of regions, at least 1; also limited by the number of rows in the sample, but there is always one
     */
    static RegionRouter of(BuildWork work, float[][] sample, int regions) {
        int count = Math.min(regions, sample.length);
        if (count <= 1) {
            return ONE;
        }
        float[][] centroids = new KMeans(work, row -> sample[row]).train(count, moved -> {
            RegionRouter router = new RegionRouter(moved, false);
            int[] nearest = new int[sample.length];
            work.forEach(nearest.length, ROWS_PER_STEP, row -> nearest[row] = router.region(sample[row]));
            return nearest;
        });
        return new RegionRouter(centroids, false);
    }

    /**
     * Returns a router for metrics under which a query's neighbors do not depend on its length: neither does its region. By distance all queries
     * much shorter than the rows would have the region of the shortest centroid.
     */
    RegionRouter byDirection() {
        if (centroids.length == 1) {
            return this;
        }
        float[][] directions = new float[centroids.length][];
        for (int region = 0; region < directions.length; region++) {
            directions[region] = ofLengthOne(centroids[region]);
        }
        return new RegionRouter(directions, true);
    }

    /** The zero vector stays as it is. */
    private static float[] ofLengthOne(float[] vector) {
        double squares = 0;
        for (float value : vector) {
            squares += (double) value * value;
        }
        float[] scaled = vector.clone();
        if (squares > 0) {
            double length = Math.sqrt(squares);
            for (int d = 0; d < scaled.length; d++) {
                scaled[d] = (float) (vector[d] / length);
            }
        }
        return scaled;
    }

    int regions() {
        return centroids.length;
    }

    /**
     * The region of a query.
     *
     * @param query of the sample's dimension
     * @return the region, from 0 to {@link #regions()} exclusive; the lowest if several are equally near
     */
    int region(float[] query) {
        int nearest = 0;
        if (centroids.length > 1) {
            float min = Float.POSITIVE_INFINITY;
            for (int region = 0; region < centroids.length; region++) {
                float distance = byDirection
                        ? -Vectors.product(query, centroids[region])
                        : Vectors.squaredDistance(query, centroids[region]);
                if (distance < min) {
                    min = distance;
                    nearest = region;
                }
            }
        }
        return nearest;
    }
}
