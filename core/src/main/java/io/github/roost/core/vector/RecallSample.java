package io.github.roost.core.vector;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.RejectedSearchException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/**
 * Sample queries with their true neighbours, to measure what searches of an effort find, for authors of indexes. A search that
 * is rejected because queues are full is tried again when one that was under way is done; the measurement fails with the
 * {@link RejectedSearchException} of one that is rejected while none is. Belongs to one thread.
 */
public final class RecallSample {
    /** An effort that is found is at most this share larger than the smallest that reaches the target. */
    private static final double PRECISION = .05;
    /** Searches of a sample that are under way at a time: enough to keep workers busy, few beside the searches of callers. */
    private static final int IN_FLIGHT = 32;

    private final float[][] queries;
    /** Distance of the last true neighbour of each query: what is no farther is found rightly. */
    private final float[] reach;

    private final long truths;

    /**
     * Finds the true neighbours of a sample.
     *
     * @param queries at least one
     * @param exact finds the k nearest rows of a query among all
     */
    public RecallSample(float[][] queries, Function<float[], CompletableFuture<Neighbors>> exact) {
        this.queries = queries;
        this.reach = new float[queries.length];
        long[] found = {0};
        forEach(exact, (query, truth) -> {
            found[0] += truth.size();
            reach[query] = truth.size() == 0 ? Float.NEGATIVE_INFINITY : truth.distances()[truth.size() - 1];
        });
        this.truths = found[0];
    }

    @FunctionalInterface
    private interface Answers {
        void take(int query, Neighbors found);
    }

    private void forEach(Function<float[], CompletableFuture<Neighbors>> search, Answers answers) {
        Queue<CompletableFuture<Neighbors>> underWay = new ArrayDeque<>(IN_FLIGHT);
        int answered = 0;
        for (float[] query : queries) {
            if (underWay.size() == IN_FLIGHT) {
                answers.take(answered++, underWay.remove().join());
            }
            CompletableFuture<Neighbors> answer = begin(search, query);
            while (isRejected(answer) && !underWay.isEmpty()) {
                // Its own searches are what fills the queues, or a part of it: with fewer under way there is room.
                answers.take(answered++, underWay.remove().join());
                answer = begin(search, query);
            }
            underWay.add(answer);
        }
        while (!underWay.isEmpty()) {
            answers.take(answered++, underWay.remove().join());
        }
    }

    private static CompletableFuture<Neighbors> begin(
            Function<float[], CompletableFuture<Neighbors>> search, float[] query) {
        try {
            return search.apply(query);
        } catch (RejectedSearchException full) {
            return CompletableFuture.failedFuture(full);
        }
    }

    private static boolean isRejected(CompletableFuture<Neighbors> answer) {
        return answer.state() == Future.State.FAILED && answer.exceptionNow() instanceof RejectedSearchException;
    }

    /**
     * Measures a search.
     *
     * @param search finds some of the k nearest rows of a query
     * @return the share of true neighbours that it finds, from 0 to 1
     */
    public double recall(Function<float[], CompletableFuture<Neighbors>> search) {
        long[] hits = {0};
        forEach(search, (query, found) -> {
            for (float distance : found.distances()) {
                hits[0] += distance <= reach[query] ? 1 : 0;
            }
        });
        return truths == 0 ? 1 : (double) hits[0] / truths;
    }

    /**
     * The smallest effort that reaches a recall, nearly.
     *
     * @param least the smallest effort
     * @param most the largest effort
     * @param target over 0, at most 1
     * @param search searches with an effort
     * @return from {@code least} to {@code most}
     */
    public int leastEffort(
            int least, int most, double target, IntFunction<Function<float[], CompletableFuture<Neighbors>>> search) {
        return least(least, most, target, effort -> recall(search.apply(effort)));
    }

    /**
     * The smallest effort that reaches a recall, within a twentieth: doubled until it does, then halved in between.
     *
     * @param least effort to begin with
     * @param most the largest effort
     * @param target over 0, at most 1
     * @param recall of an effort; grows with it
     * @return from {@code least} to {@code most}, which is given where that does not reach it either
     */
    static int least(int least, int most, double target, IntToDoubleFunction recall) {
        int tooSmall = least - 1;
        int enough = least;
        while (enough < most && recall.applyAsDouble(enough) < target) {
            tooSmall = enough;
            enough = (int) Math.min(2L * enough, most);
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

    /**
     * Checks a recall.
     *
     * @param recall the number
     * @return the same
     * @throws IllegalArgumentException unless it is over 0 and at most 1
     */
    public static double requireRecall(double recall) {
        if (!(recall > 0 && recall <= 1)) {
            throw new IllegalArgumentException("recall must be over 0 and at most 1, got " + recall);
        }
        return recall;
    }
}
