package io.github.roost.bench.rivals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs an engine's searches on a fixed number of threads; thread i gets the queries i, i + threads, and so on. Not
 * thread-safe.
 */
public final class SearchThreads implements AutoCloseable {
    private final ExecutorService pool;
    private final int threads;
    private final int queries;

    /**
     * Starts the threads.
     *
     * @param queries the number of queries
     */
    public SearchThreads(int threads, int queries) {
        this.pool = Executors.newFixedThreadPool(threads);
        this.threads = threads;
        this.queries = queries;
    }

    /** Searches for one query on the thread of the given number. */
    public interface Search {
        void run(int thread, int query) throws Exception;
    }

    /** Runs the search of every query once. */
    public void once(Search search) throws Exception {
        onEach(thread -> {
            for (int query = thread; query < queries; query += threads) {
                search.run(thread, query);
            }
            return (long) queries;
        });
    }

    /**
     * Searches per second. Each thread is timed on its own, so that no thread's rate includes a wait for another's end.
     */
    public double rate(Duration time, Search search) throws Exception {
        return onEach(thread -> {
            long began = System.nanoTime();
            long searches = 0;
            int query = thread;
            while (true) {
                search.run(thread, query);
                searches++;
                query = (query + threads) % queries;
                long elapsed = System.nanoTime() - began;
                if (elapsed >= time.toNanos()) {
                    return searches * 1e9 / elapsed;
                }
            }
        });
    }

    private interface Share {
        double run(int thread) throws Exception;
    }

    private double onEach(Share share) throws Exception {
        List<Future<Double>> shares = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            shares.add(pool.submit(() -> share.run(thread)));
        }
        double sum = 0;
        for (Future<Double> done : shares) {
            sum += done.get();
        }
        return sum;
    }

    @Override
    public void close() {
        pool.close();
    }
}
