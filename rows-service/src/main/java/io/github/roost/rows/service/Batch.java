package io.github.roost.rows.service;

import io.github.roost.rows.service.StrongBatch.Answer;
import io.github.roost.rows.service.StrongBatch.Ask;
import java.util.List;

/**
 * The client side of one batch of keys: decides which requests to send, given the answers so far. It sends nothing and has no clock. For one thread
 * at a time.
 *
 * @param <V> the type of a server's answer for the keys of a shard
 */
interface Batch<V> {
    /** Returns requests to send; called first, and again after a pause while no request is in flight and the batch is not done. */
    List<Ask> begin(long now);

    /** Handles an answer with values; returns requests to send. */
    List<Ask> answered(Ask ask, long version, V values, long now);

    /** Handles the answer that a server does not have the requested shard; its view was learned before. Returns requests to send. */
    List<Ask> notServed(Ask ask, long now);

    /** Handles that a server did not answer in time, or cannot be reached; returns requests to send. */
    List<Ask> failed(Ask ask, long now);

    /** Returns at most {@code max} requests to send to second servers, because the first ones are slow. */
    List<Ask> hedge(long now, int max);

    /** Whether requests are in flight that the batch waits for. */
    boolean isWaiting();

    /** Whether the batch waits for the outcome of a request. */
    boolean isWaitingFor(Ask ask);

    /** The number of requests in flight that the batch waits for. */
    int waiting();

    /** Whether all values have arrived. */
    boolean isDone();

    /** The values; the batch must be done. */
    List<Answer<V>> answers();

    /** The keys without a value so far. */
    long[] missing();
}
