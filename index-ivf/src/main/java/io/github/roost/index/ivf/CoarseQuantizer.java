package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.RowPicks;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.ListsToVisit;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the lists that are nearest to a vector: the centroids' codes give candidates, which are reranked by floats. With few
 * centroids, or a kernel that scans codes no faster, all centroids are compared; the answer is the same. Thread-safe.
 */
final class CoarseQuantizer {
    /** With fewer centroids, choosing candidates takes longer than comparing all. */
    private static final int MIN_CODED = 128;
    /** This many queries compare all centroids: they share each read of a centroid, but would choose candidates one by one. */
    private static final int TOGETHER = 4;

    private static final int ROWS_PER_STEP = 256;

    private final ScanKernel kernel;
    private final int dimension;
    private final RowRun centroids;
    /** Created when first used. */
    private final AtomicReference<@Nullable CentroidCodes> byDistance = new AtomicReference<>();

    private final AtomicReference<@Nullable CentroidCodes> byProduct = new AtomicReference<>();

    CoarseQuantizer(ScanKernel kernel, float[][] centroids) {
        this.kernel = kernel;
        this.dimension = centroids[0].length;
        int stride = RowRun.strideOf(dimension);
        Arena arena = Arena.ofAuto();
        MemorySegment vectors = arena.allocate((long) centroids.length * stride * Float.BYTES, 64);
        MemorySegment ids = arena.allocate((long) centroids.length * Long.BYTES, 64);
        for (int i = 0; i < centroids.length; i++) {
            MemorySegment.copy(
                    centroids[i], 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, dimension);
            ids.setAtIndex(ValueLayout.JAVA_LONG, i, i);
        }
        this.centroids = new RowRun(vectors, ids, centroids.length, stride);
    }

    /** Copies of the centroids. */
    float[][] centroids() {
        float[][] copies = new float[size()][];
        Arrays.setAll(copies, this::centroid);
        return copies;
    }

    private float[] centroid(int list) {
        float[] copy = new float[dimension];
        long at = (long) list * centroids.stride() * Float.BYTES;
        MemorySegment.copy(centroids.vectors(), ValueLayout.JAVA_FLOAT, at, copy, 0, dimension);
        return copy;
    }

    /** Number of lists. */
    int size() {
        return (int) centroids.count();
    }

    /**
     * Per query, the {@code count} nearest lists, or all if there are fewer, nearest first, in a table of this metric. Lists whose
     * distance is NaN come last.
     */
    int[][] nearest(float[][] queries, int count, Metric metric) {
        // Rows were assigned to lists by squared distance, so lists are ranked by it too, also for unit vectors.
        Metric measure = metric == Metric.INNER_PRODUCT ? metric : Metric.SQUARED_L2;
        int max = Math.min(QueryGroup.limit(count), CodeGroup.MAX_QUERIES);
        int[][] lists = new int[queries.length][];
        for (int from = 0; from < queries.length; from += max) {
            float[][] some = Arrays.copyOfRange(queries, from, Math.min(queries.length, from + max));
            SearchResult[] nearest = pays(count) && some.length < TOGETHER
                    ? nearestOf(codes(measure).candidates(some, count), some, count, measure)
                    : nearestOfAll(some, count, measure);
            for (int i = 0; i < some.length; i++) {
                lists[from + i] = filled(numbers(nearest[i].ids()), Math.min(count, size()));
            }
        }
        return lists;
    }

    /** All lists that may have rows within a squared distance of a query, nearest first. */
    int[] within(float[] query, double radius) {
        SearchResult fromQuery = nearestOfAll(new float[][] {query}, size(), Metric.SQUARED_L2)[0];
        if (fromQuery.size() < size()) {
            return filled(numbers(fromQuery.ids()), size());
        }
        int nearest = (int) fromQuery.ids()[0];
        SearchResult fromNearest = nearestOfAll(new float[][] {centroid(nearest)}, size(), Metric.SQUARED_L2)[0];
        double[] between = new double[size()];
        for (int i = 0; i < fromNearest.size(); i++) {
            between[(int) fromNearest.ids()[i]] = fromNearest.distances()[i];
        }
        return IntStream.range(0, size())
                .filter(i -> !ListsToVisit.isBeyond(
                        fromQuery.distances()[i],
                        fromQuery.distances()[0],
                        between[(int) fromQuery.ids()[i]],
                        radius))
                .map(i -> (int) fromQuery.ids()[i])
                .toArray();
    }

    private static int[] numbers(long[] ids) {
        int[] numbers = new int[ids.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (int) ids[i];
        }
        return numbers;
    }

    /** Adds lists whose centroid is too far out for a distance: rows near it may still be found. */
    private int[] filled(int[] nearest, int count) {
        return nearest.length == count
                ? nearest
                : IntStream.concat(Arrays.stream(nearest), IntStream.range(0, size()))
                        .distinct()
                        .limit(count)
                        .toArray();
    }

    /** Whether scanning the codes of all centroids first saves time. */
    private boolean pays(int count) {
        return kernel.scansCodesFaster() && size() >= MIN_CODED && count <= size() / 4;
    }

    private CentroidCodes codes(Metric measure) {
        AtomicReference<@Nullable CentroidCodes> place = measure == Metric.SQUARED_L2 ? byDistance : byProduct;
        CentroidCodes made = place.get();
        if (made == null) {
            // Two threads may both create equal ones.
            made = new CentroidCodes(kernel, measure, centroids());
            place.set(made);
        }
        return made;
    }

    private SearchResult nearestOf(int[] candidates, float[] query, int count, Metric measure) {
        RowPicks picks = Scratch.PICKS.take();
        long[] ids;
        float[] distances;
        try {
            picks.begin(measure, query, candidates.length);
            for (int candidate : candidates) {
                picks.add(centroids, candidate);
            }
            kernel.compare(picks);
            ids = picks.copyOfIds();
            distances = picks.copyOfDistances();
        } finally {
            picks.clear();
            Scratch.PICKS.giveBack(picks);
        }
        int numbers = NearestFirst.keepWithin(Float.POSITIVE_INFINITY, ids, distances);
        return NearestFirst.of(kernel, ids, distances, numbers, count);
    }

    private SearchResult[] nearestOf(int[][] candidates, float[][] queries, int count, Metric measure) {
        SearchResult[] nearest = new SearchResult[queries.length];
        for (int i = 0; i < nearest.length; i++) {
            nearest[i] = nearestOf(candidates[i], queries[i], count, measure);
        }
        return nearest;
    }

    private SearchResult[] nearestOfAll(float[][] queries, int count, Metric measure) {
        Reservoir[] reservoirs = scanned(queries, count, measure);
        SearchResult[] nearest = new SearchResult[queries.length];
        for (int i = 0; i < nearest.length; i++) {
            nearest[i] = NearestFirst.of(
                    kernel, reservoirs[i].copyOfIds(), reservoirs[i].copyOfDistances(), reservoirs[i].size(), count);
        }
        return nearest;
    }

    /** Per query, the nearest of all centroids, in no order. */
    private Reservoir[] scanned(float[][] queries, int count, Metric measure) {
        Reservoir[] reservoirs = new Reservoir[queries.length];
        QueryGroup group = Scratch.QUERY_GROUPS.take();
        try {
            group.begin(measure, dimension, count);
            for (int i = 0; i < reservoirs.length; i++) {
                reservoirs[i] = new Reservoir(count);
                group.add(queries[i], reservoirs[i], Float.POSITIVE_INFINITY);
            }
            kernel.scan(centroids, group);
            group.finish();
        } finally {
            Scratch.QUERY_GROUPS.giveBack(group);
        }
        return reservoirs;
    }

    /** The numbers of the nearest lists, by squared L2, of rows 0 to {@code count}, on the workers. */
    int[] assign(BuildWork work, IntFunction<float[]> rows, int count) {
        int[] lists = new int[count];
        work.run(count, ROWS_PER_STEP, (from, to) -> assign(rows, from, to, lists));
        return lists;
    }

    /** Writes the numbers of the nearest lists, by squared L2, of rows {@code from} to {@code to} exclusive to {@code lists}. */
    void assign(IntFunction<float[]> rows, int from, int to, int[] lists) {
        for (int first = from; first < to; first += QueryGroup.MAX_QUERIES) {
            float[][] some = new float[Math.min(QueryGroup.MAX_QUERIES, to - first)][];
            for (int i = 0; i < some.length; i++) {
                some[i] = rows.apply(first + i);
            }
            int[] nearest = pays(1) ? nearestByCodes(some) : nearestByDistance(some);
            System.arraycopy(nearest, 0, lists, first, nearest.length);
        }
    }

    /** List 0 takes a row so far out that all its distances overflow. */
    private int[] nearestByCodes(float[][] rows) {
        int[][] candidates = codes(Metric.SQUARED_L2).candidates(rows, 1);
        int[] nearest = new int[rows.length];
        for (int i = 0; i < rows.length; i++) {
            if (candidates[i].length == 1) {
                nearest[i] = candidates[i][0];
            } else {
                SearchResult found = nearestOf(candidates[i], rows[i], 1, Metric.SQUARED_L2);
                nearest[i] = found.size() == 0 ? 0 : (int) found.ids()[0];
            }
        }
        return nearest;
    }

    private int[] nearestByDistance(float[][] rows) {
        return Arrays.stream(scanned(rows, 1, Metric.SQUARED_L2))
                .mapToInt(reservoir -> reservoir.size() == 0 ? 0 : (int) reservoir.nearestId())
                .toArray();
    }
}
