package io.github.roost.index.hnsw;

import java.util.SplittableRandom;

/**
 * Divides the queries of one large table among several mapping ids by region: by the nearest of a few coarse centroids. Searches
 * of one region read much the same part of the graph, so each region's home holds that part in its cache, where queries divided
 * at random would have every home hold all of it. Regions are placed, given several homes and moved by their measured traffic
 * as tables are. Only where a search runs depends on the region, never what it finds. Immutable.
 *
 * <p>Centroids are found by k-means (Lloyd, IEEE Trans. Information Theory 28(2), 1982) on a sample, from rows drawn at random.
 */
final class RegionRouter {
    /** Regions of a table at most: some for each domain of the largest machines, and few enough to find the nearest in a moment. */
    static final int MAX_REGIONS = 64;

    private static final int ITERATIONS = 8;
    private static final long SEED = 25;

    /** One region for all queries. */
    static final RegionRouter ONE = new RegionRouter(new float[1][0]);

    private final float[][] centroids;

    private RegionRouter(float[][] centroids) {
        this.centroids = centroids;
    }

    /**
     * How many regions a table is to have.
     *
     * @param bytes that its graph takes
     * @param cacheBytes of one cache domain; 0 or less where that is not known
     * @param domains of the machine
     * @return 1 where one cache holds the table, or there is one domain; else so many that a cache holds two regions, at most
     *     {@value #MAX_REGIONS}
     */
    static int regionsFor(long bytes, long cacheBytes, int domains) {
        if (domains == 1 || cacheBytes <= 0 || bytes <= cacheBytes) {
            return 1;
        }
        return (int) Math.min(MAX_REGIONS, Math.ceilDiv(bytes, Math.max(1, cacheBytes / 2)));
    }

    /**
     * Finds the regions of a table.
     *
     * @param sample of its rows, all of one dimension; not kept
     * @param regions how many at most, at least 1; there are not more than rows in the sample, but always one
     */
    static RegionRouter of(float[][] sample, int regions) {
        int count = Math.min(regions, sample.length);
        if (count <= 1) {
            return ONE;
        }
        float[][] centroids = new SplittableRandom(SEED)
                .ints(0, sample.length)
                .distinct()
                .limit(count)
                .mapToObj(row -> sample[row].clone())
                .toArray(float[][]::new);
        RegionRouter router = new RegionRouter(centroids);
        for (int i = 0; i < ITERATIONS; i++) {
            router = router.moved(sample);
        }
        return router;
    }

    /** Each centroid in the middle of the rows that are nearest to it; where there are none it stays. */
    private RegionRouter moved(float[][] sample) {
        int dimension = centroids[0].length;
        double[][] sums = new double[centroids.length][dimension];
        int[] counts = new int[centroids.length];
        for (float[] row : sample) {
            int nearest = region(row);
            counts[nearest]++;
            for (int d = 0; d < dimension; d++) {
                sums[nearest][d] += row[d];
            }
        }
        float[][] next = new float[centroids.length][];
        for (int region = 0; region < next.length; region++) {
            next[region] = counts[region] == 0 ? centroids[region] : mean(sums[region], counts[region]);
        }
        return new RegionRouter(next);
    }

    private static float[] mean(double[] sum, int count) {
        float[] mean = new float[sum.length];
        for (int d = 0; d < mean.length; d++) {
            mean[d] = (float) (sum[d] / count);
        }
        return mean;
    }

    int regions() {
        return centroids.length;
    }

    /**
     * The region of a query.
     *
     * @param query of the sample's dimension
     * @return from 0 to {@link #regions()} exclusive; the lowest of those that are equally near
     */
    int region(float[] query) {
        int nearest = 0;
        if (centroids.length > 1) {
            float least = Float.POSITIVE_INFINITY;
            for (int region = 0; region < centroids.length; region++) {
                float distance = squaredDistance(query, centroids[region]);
                if (distance < least) {
                    least = distance;
                    nearest = region;
                }
            }
        }
        return nearest;
    }

    private static float squaredDistance(float[] one, float[] other) {
        float sum = 0;
        for (int d = 0; d < one.length; d++) {
            float difference = one[d] - other[d];
            sum += difference * difference;
        }
        return sum;
    }
}
