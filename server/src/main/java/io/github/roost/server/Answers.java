package io.github.roost.server;

import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.ServerResponse;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;

/**
 * Sends answers in the request's own virtual thread. A client that does not take its answer holds its connection only for a limited time, and the
 * total size of all answers being sent is bounded. Small answers are exempt, so that a change is never refused after it was made; the number of
 * connections bounds their bytes. Thread-safe.
 */
final class Answers {
    /** Bytes of each answer that are exempt from the bound. */
    private static final int FREE = 16 << 10;
    /** Bytes that a client must take in the time limit. */
    private static final int PACE = 1 << 20;
    /** Answers being sent may hold this many times the size of the largest body. */
    private static final int LARGEST_BODIES = 64;

    private final int most;
    private final Duration time;
    private final ScheduledExecutorService clock;
    private final ServeMetrics metrics;
    /** Bytes that may still be held beyond the free bytes of each answer. */
    private final Semaphore room;

    /**
     * @param maxBodyBytes the largest body of a request
     * @param time time limit for each started MiB of an answer to be taken; then its connection is closed
     */
    Answers(int maxBodyBytes, Duration time, ScheduledExecutorService clock, ServeMetrics metrics) {
        this.most = (int) Math.min(Integer.MAX_VALUE, (long) maxBodyBytes * LARGEST_BODIES);
        this.time = time;
        this.clock = clock;
        this.metrics = metrics;
        this.room = new Semaphore(most);
    }

    /**
     * Sends an answer, or 429 if there is no room for it. An answer larger than all room takes all.
     *
     * @throws CloseConnectionException if the client does not take it
     */
    void send(ServerResponse response, Reply reply) {
        int charge = Math.clamp(reply.body().length - FREE, 0, most);
        if (!room.tryAcquire(charge)) {
            write(response, Reply.of(Searches.full()));
            return;
        }
        try {
            write(response, reply);
        } finally {
            room.release(charge);
        }
    }

    private void write(ServerResponse response, Reply reply) {
        metrics.answered(reply.status());
        response.status(Status.create(reply.status()));
        response.header("Content-Type", reply.contentType());
        response.header("X-Content-Type-Options", "nosniff");
        reply.headers().forEach(response::header);
        try (Patience _ = new Patience(clock, time.multipliedBy(1 + reply.body().length / PACE))) {
            response.send(reply.body());
        } catch (ServerConnectionException e) {
            throw new CloseConnectionException("the answer was not taken", e);
        }
    }
}
