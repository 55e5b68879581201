package io.github.roost.vector.spi;

import io.github.roost.core.RejectedSearchException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/**
 * Sample queries with their true neighbors, to measure the recall of searches. A search that is rejected because
 * queues are full is retried when another search of the sample is done; if none is in flight, the measurement fails with its
 * {@link RejectedSearchException}. Not thread-safe.
 */
public final class RecallSample {
    /** The effort found exceeds the smallest that reaches the target by at most this share. */
    private static final double PRECISION = .05;
    /** Searches of a sample in flight: enough to keep workers busy, few compared with the searches of callers. */
    private static final int IN_FLIGHT = 32;

    private final float[][] queries;
    /** The distance of each query's farthest true neighbor: a row found within it counts as a hit. */
    private final float[] reach;

    private final long truths;

    /**
     * Checks the arguments of {@link io.github.roost.vector.VectorTable#effortFor}.
     *
     * @param recall the target recall
     * @param k the number of rows of a search
     * @param queries the sample queries
     * @param dimension the dimension of the table
     * @param metric the metric of the table
     * @throws IllegalArgumentException if the recall is not over 0 and at most 1, k is not from 1 to 10,000, there is no query, or a query
     *     does not fit the table
     */
    public static void require(double recall, int k, float[][] queries, int dimension, Metric metric) {
        Vectors.requireRecall(recall);
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Objects.requireNonNull(queries, "sample must not be null");
        if (queries.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int query = 0; query < queries.length; query++) {
            Vectors.require("query " + query, queries[query], dimension, metric);
        }
    }

    /**
     * Measures an effort with rows of the table as queries. Each query finds its own row, as every search does, which other queries do not: so it
     * is measured for one row more, and the target is raised by that certain hit.
     *
     * @param recall the target recall of searches, over 0, at most 1
     * @param k the number of rows of a search, from 1 to 10,000
     * @param rows the number of rows of the table
     * @param measure measures the effort with these queries
     * @return the effort
     */
    public static int effortByOwnRows(double recall, int k, int rows, Measure measure) {
        int withItself = Math.min(Math.min(k + 1, Vectors.MAX_NEIGHBORS), Math.max(1, rows));
        return measure.effort((recall * (withItself - 1) + 1) / withItself, withItself);
    }

    /**
     * Creates a sample, and finds its true neighbors by exact search.
     *
     * @param queries the sample queries, at least one
     * @param exact an exact search for the k nearest rows of a query
     */
    public RecallSample(float[][] queries, Function<float[], CompletableFuture<SearchResult>> exact) {
        this.queries = queries;
        this.reach = new float[queries.length];
        long[] found = {0};
        forEach(exact, (query, truth) -> {
            found[0] += truth.size();
            reach[query] = truth.size() == 0 ? Float.NEGATIVE_INFINITY : truth.distances()[truth.size() - 1];
        });
        this.truths = found[0];
    }

    /** Measures the effort for a recall. */
    @FunctionalInterface
    public interface Measure {
        /**
         * Returns the smallest effort that reaches a recall. May block; there is one call at a time per recall and k.
         *
         * @param recall the target recall, over 0, at most 1
         * @param k the number of rows, from 1 to 10,000
         * @return the effort, in the unit of {@link io.github.roost.vector.SearchRequest#effort}
         */
        int effort(double recall, int k);
    }

    @FunctionalInterface
    private interface Answers {
        void take(int query, SearchResult found);
    }

    private void forEach(Function<float[], CompletableFuture<SearchResult>> search, Answers answers) {
        Queue<CompletableFuture<SearchResult>> underWay = new ArrayDeque<>(IN_FLIGHT);
        int answered = 0;
        for (float[] query : queries) {
            if (underWay.size() == IN_FLIGHT) {
                answers.take(answered++, underWay.remove().join());
            }
            CompletableFuture<SearchResult> answer = begin(search, query);
            while (isRejected(answer) && !underWay.isEmpty()) {
                // The sample's own searches fill the queues, at least in part: with fewer in flight there is room.
                answers.take(answered++, underWay.remove().join());
                answer = begin(search, query);
            }
            underWay.add(answer);
        }
        while (!underWay.isEmpty()) {
            answers.take(answered++, underWay.remove().join());
        }
    }

    private static CompletableFuture<SearchResult> begin(
            Function<float[], CompletableFuture<SearchResult>> search, float[] query) {
        try {
            return search.apply(query);
        } catch (RejectedSearchException full) {
            return CompletableFuture.failedFuture(full);
        }
    }

    private static boolean isRejected(CompletableFuture<SearchResult> answer) {
        return answer.state() == Future.State.FAILED && answer.exceptionNow() instanceof RejectedSearchException;
    }

    /**
     * Measures the recall of a search.
     *
     * @param search an approximate search for the k nearest rows of a query
     * @return the recall over all queries, from 0 to 1
     */
    public double recall(Function<float[], CompletableFuture<SearchResult>> search) {
        long[] hits = {0};
        forEach(search, (query, found) -> {
            for (float distance : found.distances()) {
                hits[0] += distance <= reach[query] ? 1 : 0;
            }
        });
        return truths == 0 ? 1 : (double) hits[0] / truths;
    }

    /**
     * Returns the smallest effort that reaches a recall, to within 5 %.
     *
     * @param min the smallest effort
     * @param max the largest effort
     * @param target the target recall, over 0, at most 1
     * @param search makes an approximate search with the given effort
     * @return from {@code min} to {@code max}
     */
    public int minEffort(
            int min, int max, double target, IntFunction<Function<float[], CompletableFuture<SearchResult>>> search) {
        return min(min, max, target, effort -> recall(search.apply(effort)));
    }

    /**
     * Returns the smallest effort that reaches a recall, to within {@link #PRECISION}: doubles the effort until it does, then bisects.
     *
     * @param min the smallest effort, to begin with
     * @param max the largest effort
     * @param target the target recall, over 0, at most 1
     * @param recall the recall of an effort; must not decrease with it
     * @return from {@code min} to {@code max}; {@code max} if no effort reaches the recall
     */
    static int min(int min, int max, double target, IntToDoubleFunction recall) {
        int tooSmall = min - 1;
        int enough = min;
        while (enough < max && recall.applyAsDouble(enough) < target) {
            tooSmall = enough;
            enough = (int) Math.min(2L * enough, max);
        }
        while (enough - tooSmall > Math.max(1, PRECISION * enough)) {
            int middle = (tooSmall + enough) >>> 1;
            if (recall.applyAsDouble(middle) < target) {
                tooSmall = middle;
            } else {
                enough = middle;
            }
        }
        return enough;
    }
}
