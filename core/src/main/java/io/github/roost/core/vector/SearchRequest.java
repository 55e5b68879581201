package io.github.roost.core.vector;

import io.github.roost.core.Vectors;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.SubmitOptions;
import java.time.Duration;
import java.util.Objects;

/**
 * What a search of a {@link VectorTable} is to find, and how. Immutable: each method returns another request.
 *
 * <pre>{@code
 * SearchRequest request = SearchRequest.of(query, 10)
 *         .filter(IdFilter.of(id -> inStock.contains(id)))
 *         .timeout(Duration.ofMillis(20));
 * }</pre>
 */
public final class SearchRequest {
    /** The effort, or visit limit, of a request that does not say. */
    private static final int UNSAID = 0;

    private final float[] query;
    private final int k;
    private final int effort;
    private final double targetRecall;
    private final IdFilter filter;
    private final float radius;
    private final long visitLimit;
    private final SubmitOptions options;

    private SearchRequest(
            float[] query,
            int k,
            int effort,
            double targetRecall,
            IdFilter filter,
            float radius,
            long visitLimit,
            SubmitOptions options) {
        this.query = query;
        this.k = k;
        this.effort = effort;
        this.targetRecall = targetRecall;
        this.filter = filter;
        this.radius = radius;
        this.visitLimit = visitLimit;
        this.options = options;
    }

    /**
     * A search for the nearest rows, with the table's default effort.
     *
     * @param query of the table's dimension, finite; copied
     * @param k how many rows at most, from 1 to 10,000
     * @return the request
     * @throws IllegalArgumentException if k is out of its range
     */
    public static SearchRequest of(float[] query, int k) {
        Objects.requireNonNull(query, "query must not be null");
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        return new SearchRequest(
                query.clone(),
                k,
                UNSAID,
                Double.NaN,
                IdFilter.all(),
                Float.POSITIVE_INFINITY,
                Long.MAX_VALUE,
                SubmitOptions.DEFAULT);
    }

    /**
     * Sets how much a search looks at: more finds more of the true neighbours and takes longer. Takes the place of {@link
     * #targetRecall}.
     *
     * @param value of a graph its ef, from k to 100,000; of an inverted file its nprobe, from 1 to the number of lists. The
     *     table checks it
     * @return the request
     */
    public SearchRequest effort(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("effort must be at least 1, got " + value);
        }
        return new SearchRequest(query, k, value, Double.NaN, filter, radius, visitLimit, options);
    }

    /**
     * Lets the table choose the effort that finds this share of the true neighbours on average. The table measures it with a
     * sample of its own rows at the first search with this share and this k; queries unlike the rows may find less. Replaces {@link
     * #effort}.
     *
     * @param value over 0, at most 1
     * @return the request
     */
    public SearchRequest targetRecall(double value) {
        RecallSample.requireRecall(value);
        return new SearchRequest(query, k, UNSAID, value, filter, radius, visitLimit, options);
    }

    /**
     * Sets which rows may be found.
     *
     * @param value default {@link IdFilter#all()}
     * @return the request
     */
    public SearchRequest filter(IdFilter value) {
        Objects.requireNonNull(value, "filter must not be null");
        return new SearchRequest(query, k, effort, targetRecall, value, radius, visitLimit, options);
    }

    /**
     * Sets the greatest distance of a row that is found (range search): the result has the rows within it, at most k of them.
     *
     * @param value in the unit of the distances in {@link io.github.roost.core.Neighbors}: squared for L2, negated for the inner product;
     *     not NaN. Default infinite
     * @return the request
     */
    public SearchRequest radius(float value) {
        if (Float.isNaN(value)) {
            throw new IllegalArgumentException("radius must be a number, got NaN");
        }
        return new SearchRequest(query, k, effort, targetRecall, filter, value, visitLimit, options);
    }

    /**
     * Sets how many vectors the search may compare with the query before it ends with what it has found. A graph search checks
     * the limit every few hundred vectors; an inverted file finishes a list that it has begun.
     *
     * @param value at least 1; default unlimited
     * @return the request
     */
    public SearchRequest visitLimit(long value) {
        if (value < 1) {
            throw new IllegalArgumentException("the visit limit must be at least 1, got " + value);
        }
        return new SearchRequest(query, k, effort, targetRecall, filter, radius, value, options);
    }

    /**
     * Sets a deadline.
     *
     * @param value from submission to deadline; zero for none, the default
     * @return the request
     */
    public SearchRequest timeout(Duration value) {
        return options(options.withTimeout(value));
    }

    /**
     * Sets which of two queued searches goes first.
     *
     * @param value default {@link Priority#INTERACTIVE}
     * @return the request
     */
    public SearchRequest priority(Priority value) {
        return options(new SubmitOptions(value, options.timeout()));
    }

    /**
     * Sets deadline and priority together.
     *
     * @param value default {@link SubmitOptions#DEFAULT}
     * @return the request
     */
    public SearchRequest options(SubmitOptions value) {
        Objects.requireNonNull(value, "options must not be null");
        return new SearchRequest(query, k, effort, targetRecall, filter, radius, visitLimit, value);
    }

    /** {@return the query; not to be changed} */
    public float[] query() {
        return query;
    }

    /** {@return how many rows at most} */
    public int k() {
        return k;
    }

    /**
     * {@return the effort asked for, or else a default}
     *
     * @param tableDefault the effort of a request without one
     */
    public int effortOr(int tableDefault) {
        return effort == UNSAID ? tableDefault : effort;
    }

    /** {@return the share of true neighbours asked for, NaN where the effort is given or left to the table} */
    public double targetRecall() {
        return targetRecall;
    }

    /** {@return which rows may be found} */
    public IdFilter filter() {
        return filter;
    }

    /** {@return the greatest distance, infinite for any} */
    public float radius() {
        return radius;
    }

    /** {@return how many vectors may be compared with the query, {@link Long#MAX_VALUE} for any number} */
    public long visitLimit() {
        return visitLimit;
    }

    /** {@return deadline and priority} */
    public SubmitOptions options() {
        return options;
    }
}
