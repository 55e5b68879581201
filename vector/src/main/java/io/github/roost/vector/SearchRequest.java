package io.github.roost.vector;

import io.github.roost.core.Priority;
import io.github.roost.core.SubmitOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The query and options of a search of a {@link VectorTable}. Immutable: each setter returns a new request.
 *
 * <pre>{@code
 * SearchRequest request = SearchRequest.of(query, 10)
 *         .filter(IdFilter.of(id -> inStock.contains(id)))
 *         .timeout(Duration.ofMillis(20));
 * }</pre>
 */
public final class SearchRequest {
    /** The effort of a request that does not set one. */
    private static final int DEFAULT_EFFORT = 0;

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
     * Returns a request for the nearest rows, with the table's default effort.
     *
     * @param query a finite vector of the table's dimension; copied
     * @param k the maximum number of rows, from 1 to 10,000
     * @return the request
     * @throws IllegalArgumentException if k is out of its range
     */
    public static SearchRequest of(float[] query, int k) {
        Objects.requireNonNull(query, "query must not be null");
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        return new SearchRequest(
                query.clone(),
                k,
                DEFAULT_EFFORT,
                Double.NaN,
                IdFilter.all(),
                Float.POSITIVE_INFINITY,
                Long.MAX_VALUE,
                SubmitOptions.DEFAULT);
    }

    /**
     * Sets the effort: more effort raises the recall and takes longer. Replaces {@link #targetRecall}. A search that finds fewer than k rows with
     * it looks further, so that the result has as many rows as there are. The default effort grows with k.
     *
     * @param value ef of a graph, from k to 100,000; nprobe of an inverted file, from 1 to the number of lists. The table checks the range
     * @return the request
     */
    public SearchRequest effort(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("effort must be at least 1, got " + value);
        }
        return new SearchRequest(query, k, value, Double.NaN, filter, radius, visitLimit, options);
    }

    /**
     * Sets the target recall; the table chooses the effort that reaches it on average. The table measures the effort with a sample of its
     * own rows at the first search with this recall and k, and corrects it by the recall that searches in production are measured to have
     * ({@link io.github.roost.core.Orchestrator.Builder#recallShare}); until then it may be lower if queries are distributed unlike the rows.
     * Replaces {@link #effort}.
     *
     * @param value the target recall, over 0, at most 1
     * @return the request
     */
    public SearchRequest targetRecall(double value) {
        Vectors.requireRecall(value);
        return new SearchRequest(query, k, DEFAULT_EFFORT, value, filter, radius, visitLimit, options);
    }

    /**
     * Sets the filter of the rows that may be found.
     *
     * @param value default {@link IdFilter#all()}
     * @return the request
     */
    public SearchRequest filter(IdFilter value) {
        Objects.requireNonNull(value, "filter must not be null");
        return new SearchRequest(query, k, effort, targetRecall, value, radius, visitLimit, options);
    }

    /**
     * Sets the maximum distance of the rows found (range search): the result has at most k rows, all within the radius.
     *
     * @param value the radius, in the unit of the distances in {@link io.github.roost.vector.SearchResult}: squared for L2, negated for the
     *     inner product; not NaN. Default infinite
     * @return the request
     */
    public SearchRequest radius(float value) {
        if (Float.isNaN(value)) {
            throw new IllegalArgumentException("radius must be a number, got NaN");
        }
        return new SearchRequest(query, k, effort, targetRecall, filter, value, visitLimit, options);
    }

    /**
     * Sets the number of vectors compared after which the search stops and returns the rows found so far. A graph search checks the limit
     * every few hundred vectors; an inverted file finishes the list it is scanning.
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
     * Sets the timeout.
     *
     * @param value the time from submission to the deadline; zero (the default) for no deadline
     * @return the request
     */
    public SearchRequest timeout(Duration value) {
        return options(options.withTimeout(value));
    }

    /**
     * Sets the priority of the search in queues.
     *
     * @param value default {@link Priority#INTERACTIVE}
     * @return the request
     */
    public SearchRequest priority(Priority value) {
        return options(new SubmitOptions(value, options.timeout()));
    }

    /**
     * Sets timeout and priority together.
     *
     * @param value default {@link SubmitOptions#DEFAULT}
     * @return the request
     */
    public SearchRequest options(SubmitOptions value) {
        Objects.requireNonNull(value, "options must not be null");
        return new SearchRequest(query, k, effort, targetRecall, filter, radius, visitLimit, value);
    }

    /**
     * Copies the requests of {@link VectorTable#searchAll}.
     *
     * @param requests the requests
     * @return an unmodifiable copy
     * @throws NullPointerException if the list is null or a request in it is; the message has the request's place in the list
     */
    public static List<SearchRequest> copyOf(List<SearchRequest> requests) {
        List<SearchRequest> copy = new ArrayList<>(Objects.requireNonNull(requests, "requests must not be null"));
        for (int i = 0; i < copy.size(); i++) {
            if (copy.get(i) == null) {
                throw new NullPointerException("request " + i + " must not be null");
            }
        }
        return Collections.unmodifiableList(copy);
    }

    /** {@return the query; must not be changed} */
    public float[] query() {
        return query;
    }

    /** {@return the maximum number of rows} */
    public int k() {
        return k;
    }

    /**
     * {@return the effort of the request, or the default if it sets none}
     *
     * @param tableDefault the default effort
     */
    public int effortOr(int tableDefault) {
        return effort == DEFAULT_EFFORT ? tableDefault : effort;
    }

    /** {@return the target recall; NaN if the effort is set or left to the table's default} */
    public double targetRecall() {
        return targetRecall;
    }

    /** {@return the filter of the rows that may be found} */
    public IdFilter filter() {
        return filter;
    }

    /** {@return the radius; infinite if there is none} */
    public float radius() {
        return radius;
    }

    /** {@return the visit limit; {@link Long#MAX_VALUE} if there is none} */
    public long visitLimit() {
        return visitLimit;
    }

    /** {@return timeout and priority} */
    public SubmitOptions options() {
        return options;
    }
}
