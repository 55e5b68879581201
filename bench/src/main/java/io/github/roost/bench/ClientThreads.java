package io.github.roost.bench;

import io.github.roost.simulator.measure.Latencies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * Client threads, as in a service: each one searches, waits for its hits and searches again.
 *
 * @param number client threads, at least 1
 */
public record ClientThreads(int number) {
    private static final int SIGNIFICANT_DIGITS = 3;

    public ClientThreads {
        if (number < 1) {
            throw new IllegalArgumentException("clients must be at least 1, got " + number);
        }
    }

    /** Runs the search of one number in the calling thread. */
    @FunctionalInterface
    public interface Search {
        void run(int number) throws Exception;
    }

    /**
     * Runs the clients for a time, each for at least one search, and waits for the searches under way at its end.
     *
     * @throws ExecutionException if a search fails; the other clients still run to their end
     */
    public ClosedLoop.Run run(Duration time, Search search) throws InterruptedException, ExecutionException {
        try (ExecutorService clients = Executors.newFixedThreadPool(number)) {
            long began = System.nanoTime();
            long end = began + time.toNanos();
            List<Future<Histogram>> running = new ArrayList<>();
            for (int client = 0; client < number; client++) {
                int first = client;
                running.add(clients.submit(() -> searchUntil(end, first, search)));
            }
            Histogram all = new Histogram(SIGNIFICANT_DIGITS);
            for (Future<Histogram> client : running) {
                all.add(client.get());
            }
            Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
            return new ClosedLoop.Run(all.getTotalCount(), elapsed, Latencies.ofNanos(all));
        }
    }

    /** Client i searches the numbers i, i + {@code number}, ..., so that no two clients run the same search. */
    private Histogram searchUntil(long end, int first, Search search) throws Exception {
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        int next = first;
        long now = System.nanoTime();
        do {
            search.run(next & Integer.MAX_VALUE);
            long answered = System.nanoTime();
            nanos.recordValue(answered - now);
            now = answered;
            next += number;
        } while (now < end);
        return nanos;
    }
}
