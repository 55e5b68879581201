package io.github.roost.cli.rows;

import io.github.roost.rows.service.RowsClient;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** A client that fetches batch after batch in its own thread and checks every row. Its counts may be read by any thread. */
final class AskingClient implements AutoCloseable {
    static final Duration DEADLINE = Duration.ofSeconds(5);
    static final int BATCH = 100;

    private final RowsClient client;
    private final String table;
    private final int rows;
    private final Thread thread;
    private final Map<Long, Long> byVersion = new ConcurrentSkipListMap<>();
    private final AtomicLong batches = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private volatile String lastFailure = "";
    private volatile boolean isOver;

    AskingClient(RowsClient client, String table, int rows) {
        this.client = client;
        this.table = table;
        this.rows = rows;
        this.thread = Thread.ofPlatform().daemon().name("client").start(this::ask);
    }

    private void ask() {
        SplittableRandom random = new SplittableRandom(28);
        while (!isOver) {
            long[] keys = random.longs(BATCH, 0, rows).toArray();
            try {
                RowsClient.FetchedRows found =
                        client.fetch(table, keys, DEADLINE).join();
                byVersion.merge(found.version(), 1L, Long::sum);
                if (!DemoRows.areOf(keys, found)) {
                    wrong.incrementAndGet();
                }
            } catch (CompletionException | IllegalStateException e) {
                lastFailure = String.valueOf(e.getCause());
                failed.incrementAndGet();
            }
            batches.incrementAndGet();
        }
    }

    long batches() {
        return batches.get();
    }

    /** Number of batches without an answer by the deadline. */
    long failed() {
        return failed.get();
    }

    /** Number of batches with a row that is missing, has another key, or is of another version than the batch says. */
    long wrong() {
        return wrong.get();
    }

    Map<Long, Long> byVersion() {
        return byVersion;
    }

    String lastFailure() {
        return lastFailure;
    }

    /** Waits for a number of further batches. */
    void await(long more) throws InterruptedException {
        long until = batches() + more;
        while (batches() < until) {
            Thread.sleep(5);
        }
    }

    @Override
    public void close() {
        isOver = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
